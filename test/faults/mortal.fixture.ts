// The store of an engine that is going to die. Every call is counted in its life.

import type { ChangeHint, TaskStore } from "../../src/tasks/store.ts";
import { isLive, isUndoing } from "../../src/tasks/task.ts";
import type { Life } from "./life.ts";

export interface Mortal {
  readonly store: TaskStore;
  /** The only hint that the engine gets, so that its calls are the same in every run. Hints may be lost anyway. */
  readonly hint: (id: string) => void;
}

/** No timer of the engine fires by itself, so a renewal only comes with a hint. */
const leaseMs = 60_000;

export function mortal(store: TaskStore, life: Life, callId: string): Mortal {
  const listeners = new Set<(hint: ChangeHint) => void>();
  const counted = Object.entries(store)
    .filter(([, member]) => typeof member === "function")
    .map(([name, method]) => [
      name,
      (...given: unknown[]) =>
        life.call(name, () => (method as (...all: unknown[]) => Promise<unknown>)(...given)),
    ]);
  return {
    hint: (id) => {
      if (life.isOver) return;
      for (const listener of listeners) listener({ id });
    },
    store: {
      ...store,
      ...(Object.fromEntries(counted) as TaskStore),
      leaseMs,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      claim: async (wanted) => {
        const due = await life.uncounted(() => dueOf(store, callId));
        // How often a worker looks and finds nothing depends on timers, and changes nothing.
        if (due.isNow) return life.call("claim", () => store.claim(wanted));
        return { claimed: [], nextDueAt: due.at, now: due.now };
      },
    },
  };
}

export interface Due {
  readonly at: number | undefined;
  readonly now: number;
  readonly isNow: boolean;
}

export async function dueOf(store: TaskStore, callId: string): Promise<Due> {
  // This claims nothing, and returns the store's time.
  const { now } = await store.claim({ worker: "nobody", tools: [], most: 1, leaseMs: 1 });
  const task = await store.readByCall(callId);
  const isToDo = task !== undefined && (isLive(task) || isUndoing(task));
  const at = isToDo ? task.dueAt : undefined;
  return { at, now, isNow: at !== undefined && at <= now };
}
