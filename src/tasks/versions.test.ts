// Tasks during a deployment (R17, P5 and P6). Workers of two versions claim the same tasks, and each may find a history
// that only the other can follow.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { patience } from "../../test/patience.ts";
import type { Operations } from "../replay/operations.ts";
import { ask, Engine, openSealer } from "./engine.fixture.ts";
import type { Handler } from "./engine.fixture.ts";
import { openJson, places } from "./sealing.ts";
import { MemoryStore } from "./stores/memory.ts";
import type { Release } from "./task.ts";
import { versionOf, workerName } from "./worker-name.ts";

let store: MemoryStore;
let engines: Engine[];
let ran: string[];

beforeEach(() => {
  store = new MemoryStore();
  engines = [];
  ran = [];
});
afterEach(async () => {
  await Promise.all(engines.map((one) => one.close()));
});

function replica(version: string, handler: Handler, limits = {}): Engine {
  const made = new Engine(store, { tool: handler }, { version, limits });
  engines.push(made);
  return made;
}

const step = (ops: Operations, key: string) => ops.step(key, () => void ran.push(key));

/** Asks, pays, asks again. Only the wording of the first question differs between the versions. */
const reworded =
  (wording: string): Handler =>
  async (_, ops) => {
    await ask(ops, "q", { wording });
    await step(ops, "pay");
    await ask(ops, "r");
    await step(ops, "send");
    return "sent";
  };

/** Pays after a step that version 2 has added. */
const added =
  (isNew: boolean): Handler =>
  async (_, ops) => {
    await ask(ops, "q");
    if (isNew && (await ops.patched("vat"))) {
      await ask(ops, "number");
      await step(ops, "vat");
    }
    await step(ops, "pay");
    await ask(ops, "r");
    return "paid";
  };

/** Asks twice, and does nothing. */
const twice =
  (wording: string): Handler =>
  async (_, ops) =>
    `${String(await ask(ops, "q", { wording }))} ${String(await ask(ops, "r"))}`;

/** Runs a task with this version until it asks for `wire`, and ends its worker. */
async function parkedBy(own: Engine, answers: Readonly<Record<string, string>>, wire: string) {
  await own.start();
  const { id } = await own.create("tool");
  for (const [key, value] of Object.entries(answers)) {
    await own.asked(id, key);
    await own.answer(id, { [key]: value });
  }
  await own.asked(id, wire);
  await own.close();
  return id;
}

/** A worker that is alive, and does not claim anything. */
const alive = (version: string) => store.renew(workerName("elsewhere", version), [], store.leaseMs);

const diverged = (of: Engine) => of.told.filter(({ event }) => event === "diverged").length;

describe("R17 P6: a history that another version wrote", () => {
  test("is given back while a worker of another version is alive, and that worker goes on", async () => {
    const id = await parkedBy(replica("2.0.0", reworded("new")), { q: "yes" }, "r");
    const old = replica("1.0.0", reworded("old"));
    await alive("2.0.0");
    await old.start();
    await old.answer(id, { r: "yes" });
    await vi.waitFor(() => expect(diverged(old)).toBeGreaterThan(0), patience);
    expect(await old.runtime.get(id)).toMatchObject({ status: "working" });
    expect(ran).toEqual(["pay"]);
    const next = replica("2.0.0", reworded("new"));
    await next.start();
    expect(await next.over(id)).toMatchObject({ status: "completed", result: "sent" });
    expect(ran).toEqual(["pay", "send"]);
  });

  test("is left to that worker, when its next answer arrives where it could not be followed", async () => {
    const id = await parkedBy(replica("2.0.0", reworded("new")), { q: "yes" }, "r");
    const old = replica("1.0.0", reworded("old"));
    await alive("2.0.0");
    await old.start();
    const other = await old.create("tool");
    await old.asked(other.id, "q");
    await old.answer(id, { r: "yes" });
    await vi.waitFor(() => expect(diverged(old)).toBeGreaterThan(0), patience);
    const answers = vi.spyOn(store, "answer");
    await old.answer(other.id, { q: "yes" });
    expect(answers.mock.calls).toMatchObject([[other.id, [{ wire: "q" }], undefined]]);
  });

  test("fails at once if no worker of another version is alive", async () => {
    const id = await parkedBy(replica("2.0.0", reworded("new")), { q: "yes" }, "r");
    const old = replica("1.0.0", reworded("old"));
    await alive("1.0.0");
    await old.start();
    await old.answer(id, { r: "yes" });
    const { status, error } = await old.over(id);
    expect(status).toBe("failed");
    expect(error?.message).toContain('question "q" has changed since it was answered');
    expect(diverged(old)).toBe(0);
    expect(ran).toEqual(["pay"]);
  });

  test("fails if the worker of another version has been silent for too long", async () => {
    let now = 1_000_000;
    store = new MemoryStore({ now: () => now });
    const id = await parkedBy(replica("2.0.0", reworded("new")), { q: "yes" }, "r");
    await alive("2.0.0");
    now += Math.max(30_000, store.leaseMs) + 1;
    const old = replica("1.0.0", reworded("old"));
    await old.start();
    await old.answer(id, { r: "yes" });
    expect(await old.over(id)).toMatchObject({ status: "failed" });
  });

  test("fails after divergedMs, counted from the first attempt, with pauses that grow", async () => {
    let now = 1_000_000;
    store = new MemoryStore({ now: () => now });
    const id = await parkedBy(replica("2.0.0", reworded("new")), { q: "yes" }, "r");
    const old = replica("1.0.0", reworded("old"), { divergedMs: 100_000 });
    const pauses: number[] = [];
    const { release } = store;
    vi.spyOn(store, "release").mockImplementation((ref, why: Release) => {
      pauses.push(why.afterMs);
      expect(why.isFruitless).toBe(false);
      return release(ref, why);
    });
    await alive("2.0.0");
    await old.start();
    await old.answer(id, { r: "yes" });
    for (let tries = 1; tries <= 5; tries += 1) {
      await vi.waitFor(() => expect(pauses).toHaveLength(tries), patience);
      await alive("2.0.0");
      now += 19_999;
    }
    // The first lasts two seconds at most, if the machine is not busy.
    expect(Math.min(...pauses.slice(2))).toBeGreaterThanOrEqual(2_500);
    await alive("2.0.0");
    now += 10_000;
    expect(await old.over(id)).toMatchObject({ status: "failed" });
  });

  test("fails at once if this very version wrote it, because then the handler varies", async () => {
    const id = await parkedBy(replica("2.0.0", reworded("one")), { q: "yes" }, "r");
    const same = replica("2.0.0", reworded("another"));
    await alive("1.0.0");
    await same.start();
    await same.answer(id, { r: "yes" });
    expect(await same.over(id)).toMatchObject({ status: "failed" });
  });

  test("is given back, too, if a question has been reworded back and forth", async () => {
    const onlyAsks =
      (wording: string): Handler =>
      async (_, ops) =>
        ask(ops, "q", { wording });
    const old = replica("1.0.0", onlyAsks("old"));
    const id = await parkedBy(old, {}, "q");
    const next = replica("2.0.0", onlyAsks("new"));
    await next.answer(id, { q: "to the old question" });
    await next.start();
    await next.asked(id, "q~2");
    await next.close();
    await next.answer(id, { "q~2": "to the new question" });
    // The old code would have to ask a third time, which is not allowed.
    const older = replica("1.0.0", onlyAsks("old"));
    await alive("2.0.0");
    await older.start();
    await vi.waitFor(() => expect(diverged(older)).toBeGreaterThan(0), patience);
    const last = replica("2.0.0", onlyAsks("new"));
    await last.start();
    expect(await last.over(id)).toMatchObject({ result: "to the new question" });
  });

  test("is not cut, although no step came after the answer, while the other version can go on", async () => {
    const id = await parkedBy(replica("2.0.0", twice("new")), { q: "yes" }, "r");
    const old = replica("1.0.0", twice("old"));
    await alive("2.0.0");
    await old.start();
    await old.answer(id, { r: "yes" });
    await vi.waitFor(() => expect(diverged(old)).toBeGreaterThan(0), patience);
    await old.close();
    const next = replica("2.0.0", twice("new"));
    await next.start();
    expect(await next.over(id)).toMatchObject({ status: "completed", result: "yes yes" });
  });

  test("a question may change once more if the version that asked it last is gone", async () => {
    const id = await parkedBy(replica("1.0.0", twice("old")), { q: "1" }, "r");
    const next = replica("2.0.0", twice("new"));
    await next.answer(id, { r: "yes" });
    await next.start();
    await next.asked(id, "q~2");
    await next.answer(id, { "q~2": "2" });
    await next.close();
    const third = replica("3.0.0", twice("newest"));
    await third.start();
    await third.asked(id, "q~3");
    await third.answer(id, { "q~3": "3" });
    expect(await third.over(id)).toMatchObject({ status: "completed", result: "3 yes" });
  });

  test("the version is noted once, beside the entries, where version 0.1.0 reads a cut that cuts nothing", async () => {
    const id = await parkedBy(replica("2.0.0", reworded("new")), { q: "yes" }, "r");
    const task = await store.read(id);
    const log = await store.readLog(id);
    const records = log.map((sealed, seq) =>
      openJson(openSealer, sealed, places.log(task?.callId ?? "", seq)),
    );
    expect(records).toEqual([
      ["k", Number.MAX_SAFE_INTEGER, "2.0.0"],
      ["a", "q", "new", "yes"],
      ["s", "pay"],
    ]);
  });

  test("a worker is named after its version", () => {
    expect(workerName("host-1-abc", "1.0.0@next")).toBe("host-1-abc@1.0.0@next");
    expect(versionOf("host-1-abc@1.0.0@next")).toBe("1.0.0@next");
    expect(versionOf("host-1-abc")).toBeUndefined();
  });
});

describe("R17 P5: a note that this code does not know", () => {
  test("older code gives the task back, although both have the same version", async () => {
    const answers = { q: "yes", number: "1" };
    const id = await parkedBy(replica("1.0.0", added(true)), answers, "r");
    const old = replica("1.0.0", added(false));
    await old.start();
    await old.answer(id, { r: "yes" });
    await vi.waitFor(() => expect(diverged(old)).toBeGreaterThan(0), patience);
    const next = replica("1.0.0", added(true));
    await next.start();
    expect(await next.over(id)).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["vat", "pay"]);
  });

  test("older code does not go on past the place while newer code is alive", async () => {
    const id = await parkedBy(replica("2.0.0", added(true)), { q: "yes" }, "number");
    const old = replica("1.0.0", added(false));
    await alive("2.0.0");
    await old.start();
    await old.answer(id, { number: "1" });
    await vi.waitFor(() => expect(diverged(old)).toBeGreaterThan(0), patience);
    expect(ran).toEqual([]);
    const next = replica("2.0.0", added(true));
    await next.start();
    await next.asked(id, "r");
    expect(ran).toEqual(["vat", "pay"]);
  });

  test("once newer code is gone, older code goes on, and newer code follows it later", async () => {
    const id = await parkedBy(replica("2.0.0", added(true)), { q: "yes" }, "number");
    const old = replica("1.0.0", added(false));
    await old.answer(id, { number: "1" });
    await old.start();
    await old.asked(id, "r");
    await old.close();
    const next = replica("2.0.0", added(true));
    await next.start();
    await next.answer(id, { r: "yes" });
    expect(await next.over(id)).toMatchObject({ status: "completed" });
    expect(ran).toEqual(["pay"]);
  });

  test("a task that was past the place keeps its old path, and one that was not takes the new one", async () => {
    const old = replica("1.0.0", added(false));
    const past = await parkedBy(old, { q: "yes" }, "r");
    const before = await parkedBy(replica("1.0.0", added(false)), {}, "q");
    ran = [];
    const next = replica("2.0.0", added(true));
    await next.start();
    await next.answer(past, { r: "yes" });
    await next.over(past);
    expect(ran).toEqual([]);
    await next.answer(before, { q: "yes" });
    await next.asked(before, "number");
  });
});

describe("R17 P3: in a task", () => {
  test("after a crash, the place is false, because a body past it may have run", async () => {
    const handler =
      (isNew: boolean): Handler =>
      async (_, ops) => {
        if (isNew && (await ops.patched("v2"))) await step(ops, "charge-v2");
        else await step(ops, "charge");
        return "charged";
      };
    // The worker that claims the task dies: it never writes anything again.
    const old = replica("1.0.0", handler(false));
    const { id } = await old.create("tool");
    await store.claim({ worker: "dead@1.0.0", tools: ["tool"], most: 1, leaseMs: 1 });
    const next = replica("2.0.0", handler(true));
    await next.start();
    await next.over(id);
    expect(ran).toEqual(["charge"]);
  });
});
