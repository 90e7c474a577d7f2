// One errand whose first engine is a process that kills itself at a given point. The second engine is in this process.

import { randomBytes } from "node:crypto";
import { setTimeout as timeout } from "node:timers/promises";
import { Engine, openSealer } from "../../src/tasks/engine.fixture.ts";
import { readEntries } from "../../src/tasks/execution/log-records.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { isLive, isUndoing } from "../../src/tasks/task.ts";
import type { TaskRecord } from "../../src/tasks/task.ts";
import { journalOf, serve } from "./client.fixture.ts";
import type { CrashOrders } from "./crash-process.ts";
import { errand, promotion } from "./errand.fixture.ts";
import { interfering } from "./interference.fixture.ts";
import type { Point } from "./life.ts";
import type { Place } from "./place.ts";
import { mistakesOf, regret, regretUndos } from "./regret.ts";
import type { RegretEnd } from "./regret.ts";
import { ReplicaProcess } from "./replica-process.ts";
import type { Started, Story } from "./story.ts";

/** `store` belongs to this process, and is open on the same data. */
export async function crashOfProcess(
  place: Place,
  store: TaskStore,
  point: Point | undefined,
): Promise<Story> {
  const callId = randomBytes(12).toString("hex");
  const tool = `errand-${callId}`;
  const orders: CrashOrders = { place, callId, tool, point };
  const first = new ReplicaProcess("crash-process.ts", orders);
  const there = () => first.said.flatMap(startedIn);
  const here: Started[] = [];
  let known: ReadonlySet<string> | undefined;
  const second = new Engine(
    {
      ...interfering(store, store),
      claim: async (wanted) => {
        const claims = await store.claim(wanted);
        // A call that was under way when the process died has arrived by now, or never will.
        for (const { log } of claims.claimed) {
          known ??= new Set(readEntries(openSealer, callId, log).map(({ key }) => key));
        }
        return claims;
      },
    },
    {
      [tool]: errand((key, { idempotencyKey }, body) => {
        here.push({ key, idempotencyKey });
        return body();
      }),
    },
  );
  let isDead = false;
  const taken = first.gone.then(() => {
    isDead = true;
    return second.start({ name: `second-${callId}` });
  });
  try {
    const id = await first
      .hears(({ created }) => created !== undefined, "created")
      .then(
        ({ created }) => String(created),
        // The process dies before it responds, so the client sends the same request to another one.
        async () => (await second.runtime.create(promotion(tool, callId))).id,
      );
    const asked = await serve({ store, id, callId });
    // The last points are close to the end of the task.
    if (point !== undefined) await Promise.race([taken, timeout(2_000, undefined, { ref: false })]);
    const task = await second.runtime.get(id);
    const cutShort = there().flatMap(({ key }) => (known?.has(key) === false ? [key] : []));
    const journal = await journalOf(store, id, callId);
    return { callId, isDead, task, journal, asked, started: [...there(), ...here], cutShort };
  } finally {
    first.kill("SIGKILL");
    await first.gone;
    await taken;
    await second.close();
  }
}

/** The same for a task that is undone. Resolves to what is wrong with it, and whether the process died. */
export async function crashOfRegretProcess(
  place: Place,
  store: TaskStore,
  end: RegretEnd,
  point: Point,
): Promise<{ readonly mistakes: readonly string[]; readonly isDead: boolean }> {
  const callId = randomBytes(12).toString("hex");
  const tool = `regret-${callId}`;
  const orders: CrashOrders = { place, callId, tool, point, regret: end };
  const first = new ReplicaProcess("crash-process.ts", orders);
  const here: string[] = [];
  const did = (what: string): undefined => void here.push(what);
  const second = new Engine(store, { [tool]: regret(end, did) }, { undos: regretUndos(did) });
  let isDead = false;
  const taken = first.gone.then(() => {
    isDead = true;
    return second.start({ name: `second-${callId}` });
  });
  const until = async (isIt: (task: TaskRecord) => boolean): Promise<TaskRecord> => {
    for (let tries = 0; tries < 600; tries += 1) {
      const task = await store.readByCall(callId);
      if (task !== undefined && isIt(task)) return task;
      await timeout(50);
    }
    throw new Error("The task does not get there.");
  };
  try {
    if (end === "cancel") {
      const { id } = await until(({ worker, waits }) => worker === undefined && waits.length === 1);
      await store.cancel(id, 3_600_000);
    }
    const task = await until((one) => !isLive(one) && !isUndoing(one));
    // The last points are close to the end of the task.
    await Promise.race([taken, timeout(2_000, undefined, { ref: false })]);
    const there = first.said.flatMap(({ did: what }) => (typeof what === "string" ? [what] : []));
    return { mistakes: await mistakesOf(store, task, end, point, [...there, ...here]), isDead };
  } finally {
    first.kill("SIGKILL");
    await first.gone;
    await taken;
    await second.close();
  }
}

function startedIn({ started: key, idempotencyKey }: Readonly<Record<string, unknown>>): Started[] {
  return typeof key === "string" ? [{ key, idempotencyKey: String(idempotencyKey) }] : [];
}
