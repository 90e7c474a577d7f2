// Attacks over real sockets on a server with a heap of 1 GB. What an attacking request costs the server is compared with a
// plain call of the same run. `npm run test:attack` sends more of everything, and prints a table.

import { beforeAll, describe, expect, test } from "vitest";
import { attacks } from "./attackers.ts";
import { costOf, isFull, mib, noted, printHead, warmUp } from "./measure.ts";
import type { Bar } from "./measure.ts";
import { plain, sent, startTarget, whole } from "./target.ts";
import type { Target } from "./target.ts";

/** The most that a request without valid credentials may cost. */
const strangers: Bar = { factor: 10, held: mib, peak: mib };

/** A known caller's body is held while it arrives, in a buffer with room for more, and then as text and as objects. */
const known = (factor: number): Bar => ({
  factor,
  held: 3 * mib,
  peak: isFull ? 24 * mib : 6 * mib,
});

const chosen = attacks.filter(({ isQuick }) => isFull || isQuick === true);

describe.each(isFull ? (["fast", "sdk"] as const) : (["fast"] as const))(
  "with auth, over the %s entry",
  (entry) => {
    let target: Target;
    beforeAll(async () => {
      target = await startTarget({ entry, auth: true });
      await warmUp(target, "ada");
      return () => target.stop();
    });

    test.each([
      ["no", undefined],
      ["a wrong", "mallory"],
    ])("no request with %s token costs more than 10 calls or 1 MB", async (which, token) => {
      const above: string[] = [];
      printHead(`${entry} entry, ${which} token`);
      for (const { name, once } of chosen) {
        const cost = await costOf(target, () => once(target, token), strangers, "ada");
        above.push(...noted(name, cost, strangers));
      }
      expect(above).toEqual([]);
      expect(await sent(target, whole(target, plain, "ada"))).toBe(200);
    });

    test("no request of a known caller costs more than is stated", async () => {
      const above: string[] = [];
      printHead(`${entry} entry, known caller`);
      for (const { name, once, known: factor } of chosen) {
        const bar = known(factor);
        const cost = await costOf(target, () => once(target, "eve"), bar, "ada");
        above.push(...noted(name, cost, bar));
      }
      expect(above).toEqual([]);
      expect(await sent(target, whole(target, plain, "ada"))).toBe(200);
    });
  },
);

describe.each(isFull ? (["fast", "sdk"] as const) : (["sdk"] as const))(
  "without auth, over the %s entry",
  (entry) => {
    let target: Target;
    beforeAll(async () => {
      target = await startTarget({ entry, auth: false });
      await warmUp(target);
      return () => target.stop();
    });

    test("a heap of 1 GB survives fifty attackers at the same time, and others are served meanwhile", async () => {
      for (const { name, once } of chosen) {
        const attackers = Array.from({ length: 50 }, () => once(target, undefined));
        // A victim that calls while they do.
        expect([name, await sent(target, whole(target, plain))]).toEqual([name, 200]);
        const held = await Promise.all(attackers);
        // And one that calls while the attackers keep what they hold.
        expect([name, await sent(target, whole(target, plain))]).toEqual([name, 200]);
        for (const connection of held) connection?.socket.destroy();
      }
      expect(await target.memory()).toBeLessThan(200 * mib);
    });

    if (!isFull) return;
    test("no request costs more than is stated", async () => {
      const above: string[] = [];
      printHead(`${entry} entry, without auth`);
      for (const { name, once, known: factor } of chosen) {
        const bar = known(factor);
        const cost = await costOf(target, () => once(target, undefined), bar);
        above.push(...noted(name, cost, bar));
      }
      expect(above).toEqual([]);
    });
  },
);
