// The regret: a task that makes two things and does not end well, so that both are undone. Its first engine dies at a given
// point, and its second engine continues. Both are in this process.

import { randomBytes } from "node:crypto";
import { vi } from "vitest";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { isLive, isUndoing } from "../../src/tasks/task.ts";
import { patience } from "../patience.ts";
import { wasRefused } from "./crash.fixture.ts";
import { Life } from "./life.ts";
import type { Point } from "./life.ts";
import { mortal } from "./mortal.fixture.ts";
import { mistakesOf, regret, regretUndos } from "./regret.ts";
import type { Did, RegretEnd } from "./regret.ts";

const never = new Promise<never>(() => {});
const anHour = 3_600_000;

interface Regretted {
  readonly mistakes: readonly string[];
  readonly isDead: boolean;
  readonly calls: readonly string[];
  readonly wasRefused: boolean | undefined;
}

export async function crashOfRegret(
  store: TaskStore,
  end: RegretEnd,
  at?: Point,
): Promise<Regretted> {
  const callId = randomBytes(12).toString("hex");
  // The tool belongs to this task alone, so tasks in one store do not see one another.
  const tool = `regret-${callId}`;
  const life = new Life(at);
  const deeds: string[] = [];
  const engineOn = (seen: TaskStore, isDead: () => boolean) => {
    const did: Did = (what) => {
      if (isDead()) return never;
      deeds.push(what);
      return undefined;
    };
    const options = { limits: { drainMs: 0 }, undos: regretUndos(did) };
    return new Engine(seen, { [tool]: regret(end, did) }, options);
  };
  const { store: mortalStore, hint } = mortal(store, life, callId);
  const first = engineOn(mortalStore, () => life.isOver);
  const second = engineOn(
    {
      ...store,
      claim: async (wanted) => {
        const claims = await store.claim(wanted);
        // The last call of the dead engine arrives at the worst moment: the task has just changed hands.
        if (claims.claimed.length > 0) await life.arriveLate();
        return claims;
      },
    },
    () => false,
  );
  const dead = life.end.then(() => "dead" as const);
  const taken = dead.then(async () => {
    await life.atRest();
    const task = await store.readByCall(callId);
    // The lease of the first engine ends.
    if (task?.worker !== undefined) await store.renew(task.worker, [task], 0);
    await second.start({ name: `second-${callId}`, pollMs: 50, sweepMs: anHour });
  });
  try {
    const work = { name: `first-${callId}`, pollMs: anHour, sweepMs: anHour };
    await first.start(work);
    const { id } = await first.create(tool, null, { callId });
    if (end === "cancel") {
      await vi.waitFor(async () => {
        const task = await store.read(id);
        if (task?.worker !== undefined || task?.waits.length !== 1) throw new Error("not yet");
        // The engine must know that its run has ended, so that its next call is the claim.
        if (!life.isOver && first.runtime.worker?.running !== 0) throw new Error("not yet");
      }, patience);
      await store.cancel(id, anHour);
      hint(id);
    }
    const task = await vi.waitFor(async () => {
      const record = await store.read(id);
      if (record === undefined || isLive(record) || isUndoing(record)) throw new Error("not yet");
      return record;
    }, patience);
    // The last point comes right after the task is in this state.
    if (at !== undefined) {
      await vi.waitFor(() => {
        if (!life.isOver) throw new Error("not yet");
      }, patience);
      await taken;
    }
    const mistakes = await mistakesOf(store, task, end, at, deeds);
    return {
      mistakes,
      isDead: life.isOver,
      calls: life.calls,
      wasRefused: life.late && wasRefused(life.late.call, life.late.value),
    };
  } finally {
    life.bury();
    void first.close().catch(() => {});
    await second.close();
  }
}
