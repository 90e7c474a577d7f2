// What replicas owe one another. This process is one of them (a), and the other one (b) is a process of its own.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import type { TaskSnapshot } from "../../src/tasks/snapshot.ts";
import { journalOf } from "./client.fixture.ts";
import { gate } from "../gate.fixture.ts";
import { dueOf } from "./mortal.fixture.ts";
import { openStore } from "./place.ts";
import type { Place } from "./place.ts";
import { ReplicaProcess } from "./replica-process.ts";
import type { Said } from "./replica-process.ts";
import type { ReplicaOrders } from "./replica.ts";
import { trip } from "./trip.fixture.ts";

/** The time that a busy machine may add to a promised one. */
const marginMs = 1_500;

interface Opened {
  readonly at: string;
  readonly close: () => Promise<void>;
}

export function describeReplicas(kind: Place["kind"], open: () => Promise<Opened>): void {
  describe(`replicas on ${kind}`, () => {
    let opened: Opened | undefined;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    /**
     * A tool that belongs to this test. `a` serves, and works only after it is started. If it is patient, its bodies end
     * when the test allows it.
     */
    async function replicas(leaseMs: number, orders: Partial<ReplicaOrders>, patient = false) {
      const tool = `trip-${randomBytes(6).toString("hex")}`;
      const place: Place = { kind, at: opened!.at, leaseMs };
      const b = new ReplicaProcess("replica.ts", { place, tool, bodies: "return", ...orders });
      const store = openStore(place);
      const bodies: number[] = [];
      const here = { started: gate(), mayEnd: gate() };
      if (!patient) here.mayEnd.open();
      const body = async () => {
        bodies.push(performance.now());
        here.started.open();
        await here.mayEnd.opened;
        return "by a";
      };
      const a = new Engine(store, { [tool]: trip({ body, tell: () => {} }) });
      onTestFinished(async () => {
        b.kill("SIGKILL");
        await b.gone;
        await a.close();
        await store.close();
      });
      await b.hears(({ isReady }) => isReady === true, "is ready");
      const callId = randomBytes(12).toString("hex");
      const create = (input?: string) => a.create(tool, input, { callId });
      const started = () => b.hears((said) => said["started"] === true, "started");
      return { a, b, store, tool, callId, create, bodies, started, here };
    }

    test("an answer or delivery at an idle replica continues the task at a working one, and a subscriber sees it", async () => {
      pollRarely();
      const { a, b, callId, create } = await replicas(10_000, { pollMs: 60_000 });
      const { id } = await create("ask");
      const seen: TaskSnapshot[] = [];
      let seenAt = 0;
      const watched = (async () => {
        for await (const task of a.runtime.watch(id, 0, AbortSignal.timeout(60_000))) {
          seen.push(task);
          seenAt = performance.now();
        }
      })();
      const { questions, status } = await a.asked(id, "way");
      expect(status).toBe("input_required");
      expect([...questions]).toEqual([["way", { ask: "way" }]]);

      const answeredAt = performance.now();
      expect(await a.answer(id, { way: "left" })).toEqual({ accepted: ["way"] });
      const told = await b.hears((said) => said["told"] === "left", "told the answer");
      // A hint must have brought it, because polling alone would take up to a minute.
      expect(told.at - answeredAt).toBeLessThan(20_000);

      const wait = async () => (await a.store.read(id))?.waits.map(({ key }) => key);
      await expect.poll(wait).toEqual(["boss"]);
      expect(await a.runtime.deliver(callId, "boss", "external boss", "go")).toBe("delivered");
      expect(await a.over(id)).toMatchObject({ status: "completed", result: ["left", "go"] });
      const last = await b.hears((said) => said["told"] === "go", "told the word");

      await watched;
      // A hint must have brought it, because this process polls the store only every 100 seconds.
      expect(seenAt - last.at).toBeLessThan(20_000);
      const revisions = seen.map(({ revision }) => revision);
      expect(revisions).toEqual([...new Set(revisions)].toSorted((one, other) => one - other));
      expect(seen.map((task) => task.statusMessage)).toContain("about to ask");
      expect(seen.some((task) => task.questions.has("way"))).toBe(true);
      expect(seen.at(-1)).toMatchObject({ status: "completed", result: ["left", "go"] });
      expect(a.runtime.worker).toBeUndefined();
    });

    test.for([true, false])(
      "cancelling at one replica aborts the body at the other within a third of a lease (hints arrive: %s)",
      async (hints) => {
        const leaseMs = hints ? 30_000 : 6_000;
        const { a, b, create, started } = await replicas(leaseMs, { bodies: "wait", hints });
        const { id } = await create();
        await started();
        const before = performance.now();
        expect(await a.runtime.cancel(id)).toMatchObject({ status: "cancelled" });
        const aborted = await b.hears((said) => said["aborted"] !== undefined, "aborted");
        expect(aborted["aborted"]).toBe("Cancelled");
        expect(aborted.at - before).toBeLessThan(leaseMs / 3 + (hints ? 0 : marginMs));
        expect((await a.runtime.get(id))?.status).toBe("cancelled");
      },
    );

    test("when a replica is killed, another continues within one lease", async () => {
      const leaseMs = 3_000;
      const { a, b, create, started, bodies, callId, store } = await replicas(leaseMs, {
        bodies: "wait",
      });
      const { id } = await create();
      await started();
      await a.start();
      b.kill("SIGKILL");
      const killedAt = performance.now();
      expect(await a.over(id)).toMatchObject({ status: "completed", result: "by a" });
      expect(bodies).toHaveLength(1);
      expect(bodies[0]! - killedAt).toBeLessThan(leaseMs + marginMs);
      expect(await journalOf(store, id, callId)).toEqual(["step work"]);
    });

    test.for(["in its body", "before it writes"] as const)(
      "a replica that is stopped for longer than its lease %s, and continued, writes and reports nothing",
      async (freezes) => {
        const { a, b, here, tool, create, started, bodies, callId, store } = await replicas(
          2_000,
          { freezes },
          true,
        );
        const nanny = nannyOf(b.pid);
        const { id } = await create();
        await started();
        await a.start();
        // Another replica is running the task when this one is continued.
        await here.started.opened;
        nanny.goOn();
        const isTry = (said: Said) => said["id"] === id;
        if (freezes === "before it writes") await b.hears(isTry, "has tried to write");
        here.mayEnd.open();
        expect(await a.over(id)).toMatchObject({ status: "completed", result: "by a" });
        await a.runtime.drain();

        // The replica works again: it runs the next task.
        const { id: next } = await a.create(tool, "ask");
        await a.asked(next, "way");
        await a.answer(next, { way: "right" });
        await b.hears((said) => said["told"] === "right", "told an answer");
        expect(b.said.flatMap((said) => said["told"] ?? [])).toEqual(["right"]);
        expect(b.said.filter(isTry).map((said) => said["isWritten"])).not.toContain(true);
        expect(bodies).toHaveLength(1);
        expect(await a.runtime.get(id)).toMatchObject({ status: "completed", result: "by a" });
        expect(await journalOf(store, id, callId)).toEqual(["step work"]);
      },
    );

    test("the work of a replica that is stopped for longer than its lease counts if no other replica works", async () => {
      const { a, b, create, started, callId, store } = await replicas(2_000, {
        freezes: "before it writes",
      });
      const nanny = nannyOf(b.pid);
      const { id } = await create();
      await started();
      await expect.poll(async () => (await dueOf(store, callId)).isNow).toBe(true);
      nanny.goOn();
      expect(await a.over(id)).toMatchObject({ status: "completed", result: `by ${b.pid}` });
      expect(b.said.filter((said) => said["started"])).toHaveLength(1);
      expect(await journalOf(store, id, callId)).toEqual(["step work"]);
    });

    test.for([
      ["ends in time", "wait"],
      ["does not end in time", "wait in vain"],
    ] as const)(
      "a replica that gets SIGTERM hands over long before its lease is over, if the body %s",
      async ([, kindOfBody]) => {
        const { a, b, create, started, bodies, store } = await replicas(60_000, {
          bodies: kindOfBody,
          drainMs: 300,
        });
        const { id } = await create();
        await started();
        await a.start();
        b.kill("SIGTERM");
        const toldAt = performance.now();
        const aborted = await b.hears((said) => said["aborted"] !== undefined, "aborted");
        expect(aborted["aborted"]).toBe("Draining");
        expect(await a.over(id)).toMatchObject({ status: "completed", result: "by a" });
        expect(bodies[0]! - toldAt).toBeLessThan(30_000);
        await b.gone;
        expect((await store.read(id))?.epoch).toBe(2);
      },
    );
  });
}

/** Makes this process poll the store only every 100 seconds, so that hints alone can bring news earlier. */
function pollRarely(): void {
  const real = globalThis.setInterval;
  const rare = (callback: () => void, ms: number) => real(callback, ms < 1_000 ? ms : 100_000);
  const spy = vi.spyOn(globalThis, "setInterval").mockImplementation(rare as typeof setInterval);
  onTestFinished(() => spy.mockRestore());
}

/**
 * Continues a stopped process on request, or when this process dies, because a stopped process cannot notice that.
 */
function nannyOf(pid: number): { readonly goOn: () => void } {
  const script = 'trap "" INT TERM HUP; read line; kill -CONT "$0"';
  const nanny = spawn("sh", ["-c", script, String(pid)], { stdio: ["pipe", "ignore", "ignore"] });
  const goOn = () => void nanny.stdin.end();
  onTestFinished(goOn);
  return { goOn };
}
