// What peers in other languages said to our side, and what their servers answered, replayed without them. A field, a code
// or an order that has changed shows here. `npm run interop` makes the transcripts.

import { isDeepStrictEqual } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { patience } from "../../patience.ts";
import { everyChange } from "./changed.ts";
import { deviations, explains } from "./deviations.ts";
import { withConnect, withOfficial } from "./our-side.ts";
import { byExchange } from "./exchanges.ts";
import { replayRequests, replayResponses } from "./replay.ts";
import { pageAndMade } from "./table.ts";
import { transcripts } from "./transcript.ts";
import type { Passed, Transcript } from "./transcript.ts";
import { serverFor } from "./tutorial.ts";

const recorded = transcripts().filter(({ passed }) => passed.length > 0);
const title = ({ peer, version, capability, direction }: Transcript) =>
  [`${peer} ${version}, ${direction}: ${capability}`] as const;
const isToParley = ({ direction }: Transcript) => direction === "to-parley";

describe("our server answers as it did", () => {
  test.concurrent.each(recorded.filter(isToParley).map((one) => [...title(one), one] as const))(
    "%s",
    async (_, { passed, capability }) => {
      const app = serverFor(capability);
      const { url } = await app.listen(0);
      const seen = await replayRequests(url, passed);
      await app.close();
      expect(byExchange(seen)).toEqual(byExchange(passed));
    },
  );
});

describe("our client asks and ends as it did", () => {
  test.concurrent.each(
    recorded.filter((one) => !isToParley(one)).map((one) => [...title(one), one] as const),
  )("%s", async (_, { passed, direction, errand, outcome }) => {
    const peer = await replayResponses(passed);
    const run = direction === "connect" ? withConnect : withOfficial;
    expect(await run(peer.url, errand)).toEqual(outcome);
    expect(peer.requests()).toEqual(passed.filter((one) => "request" in one));
    expect(peer.early()).toEqual([]);
    await peer.close();
  });
});

describe("each field, code and place in the order that changed is noticed", () => {
  const told = [
    ["go-sdk", "form"],
    ["go-sdk", "progress"],
  ] as const;

  test.each(told)("in what our server answers: %s, %s", async (name, what) => {
    const run = recorded.find(
      (one) => isToParley(one) && one.peer === name && one.capability === what,
    );
    const passed = run?.passed ?? [];
    // A server that answers exactly so passes.
    const same = await replayResponses(passed);
    expect(byExchange(await replayRequests(same.url, passed))).toEqual(byExchange(passed));
    await same.close();
    const changes = everyChange(passed);
    expect(changes.length).toBeGreaterThan(50);
    const unnoticed: string[] = [];
    for (const [where, changed] of changes) {
      const other = await replayResponses(changed);
      // What cannot even be read is noticed as well.
      const seen = await replayRequests(other.url, passed).catch(() => []);
      await other.close();
      if (isDeepStrictEqual(byExchange(seen), byExchange(passed))) unnoticed.push(where);
    }
    expect(unnoticed).toEqual([]);
  });

  const oneOfEach = recorded.filter((one) => one.capability === "form" && !isToParley(one));

  test.concurrent.each(oneOfEach.map((one) => [...title(one), one] as const))(
    "in the outcome of our client: %s",
    async (_, { passed, direction, errand, outcome }) => {
      const run = direction === "connect" ? withConnect : withOfficial;
      const changed = passed.map((one): Passed =>
        "request" in one ? one : JSON.parse(JSON.stringify(one).replace("Ada", "Eve")),
      );
      const peer = await replayResponses(changed);
      expect(await run(peer.url, errand)).not.toEqual(outcome);
      await peer.close();
    },
  );
});

test("a request that is sent before the answer it waited for is noticed", async () => {
  const first = { request: 1, http: "POST", headers: {}, message: { id: 1, method: "first" } };
  const second = { request: 2, http: "POST", headers: {}, message: { id: 2, method: "second" } };
  const answer = (number: number) => ({
    response: number,
    status: 200,
    headers: { "content-type": "application/json" },
    message: { id: number, result: {} },
  });
  const peer = await replayResponses([first, answer(1), second, answer(2)]);
  const send = async ({ message }: typeof first) =>
    (await fetch(peer.url, { method: "POST", body: JSON.stringify(message) })).text();
  const early = send(second);
  await vi.waitFor(() => expect(peer.requests()).toHaveLength(1), patience);
  await Promise.all([early, send(first)]);
  expect(peer.early()).toMatchObject([{ request: 2 }]);
  await peer.close();
});

test("docs/interop.md shows these runs, and explains each that fails", () => {
  const { is, hasToBe } = pageAndMade();
  expect(is).toBe(hasToBe);
});

test.each(deviations.map((one) => [one.title, one] as const))(
  "a run shows that: %s",
  (_, deviation) => {
    const { sign } = deviation;
    const shown = transcripts().filter(
      (one) =>
        explains(deviation, one) &&
        (sign === undefined ? one.verdict === "fails" : JSON.stringify(one).includes(sign)),
    );
    const directions = new Set(shown.map(({ direction }) => direction));
    const capabilities = new Set(shown.map(({ capability }) => capability));
    expect(directions).toEqual(new Set([deviation.direction].flat()));
    expect(capabilities).toEqual(new Set(deviation.capabilities));
  },
);
