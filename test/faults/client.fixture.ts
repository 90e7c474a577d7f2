// The errand's client, and everybody else whom it waits for. It is in a process of its own, so to speak: it
// talks to the store alone and goes on whatever becomes of the workers.

import { Engine, openSealer } from "../../src/tasks/engine.fixture.ts";
import { readEntries } from "../../src/tasks/execution/log.ts";
import type { TaskStore } from "../../src/tasks/store.ts";

import { isLive } from "../../src/tasks/task.ts";
import type { TaskRecord } from "../../src/tasks/task.ts";
import { answeredInBetween } from "./interference.fixture.ts";

export interface Followed {
  readonly store: TaskStore;
  readonly id: string;
  readonly callId: string;
  /** Called after each answer: something is there for whoever runs it. */
  readonly nudge?: ((wire: string) => Promise<void>) | undefined;
}

const longestMs = 8_000;

/** Gives every answer at its time. Resolves with the wire keys it was asked under, when the task is over. */
export async function serve({ store, id, callId, nudge }: Followed): Promise<readonly string[]> {
  const { runtime } = new Engine(store, {});
  const asked = new Set<string>();
  const until = (what: string, isIt: (task: TaskRecord) => boolean) =>
    follow(store, id, what, (task) => {
      for (const { kind, wire } of task.waits) if (kind === "question") asked.add(wire);
      return isIt(task);
    });
  const answer = async (wire: string, value: string) => {
    const given = await runtime.update(id, new Map([[wire, value]]));
    if (given?.accepted.join() !== wire) throw new Error(`the answer to ${wire} was not taken`);
    await nudge?.(wire);
  };

  await until("asks two things", (task) => isParkedAt(task, "size", "colour"));
  await answer("size", "bad");
  await until("asks again", (task) => isParkedAt(task, "size~2", "colour"));
  await answer("colour", "red");
  // The other one is answered while this is looked at (interference.fixture.ts), so it is due when it is parked.
  const isRacing = (task: TaskRecord) => isParkedAt(task, "hurry", "patience");
  await until("has both", (task) => isRacing(task) || isDueFor(task, answeredInBetween));
  await nudge?.(answeredInBetween);
  await until("races the answer", isRacing);
  await answer("hurry", "yes");
  await until("has moved on", (task) => isParkedAt(task, "patience", "maybe", "boss"));
  await answer("maybe", "too late");
  await until("waits for the boss", (task) => isParkedAt(task, "patience", "boss"));
  const delivery = await runtime.deliver(callId, "boss", "external boss", "fine");
  if (delivery !== "delivered") throw new Error(`the boss's word was ${delivery}`);
  await nudge?.("boss");
  await until("asks while it works", ({ waits }) => waits.some(({ wire }) => wire === "meanwhile"));
  await answer("meanwhile", "still here");
  await until("is over", (task) => !isLive(task));
  return [...asked].toSorted();
}

/** Nobody works on it, nothing has arrived for it, and exactly this is waited for. */
function isParkedAt({ worker, inbox, waits }: TaskRecord, ...wires: string[]): boolean {
  const open = waits.map(({ wire }) => wire).toSorted();
  return worker === undefined && inbox.length === 0 && open.join() === wires.toSorted().join();
}

function isDueFor({ worker, inbox }: TaskRecord, wire: string): boolean {
  return worker === undefined && inbox.map(({ id }) => id).join() === wire;
}

/** Looks whenever there is a hint, and now and then, since hints may be lost. */
async function follow(
  store: TaskStore,
  id: string,
  what: string,
  isIt: (task: TaskRecord) => boolean,
): Promise<void> {
  const deadline = performance.now() + longestMs;
  let wake = () => {};
  const unsubscribe = store.subscribe((hint) => {
    if (hint.id === undefined || hint.id === id) wake();
  });
  const again = setInterval(() => wake(), 500);
  try {
    for (;;) {
      const hinted = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const task = await store.read(id);
      if (task !== undefined && isIt(task)) return;
      if (task === undefined || performance.now() > deadline || !isLive(task)) {
        throw new Error(`the task never "${what}"; it is ${JSON.stringify(shown(task))}`);
      }
      await hinted;
    }
  } finally {
    clearInterval(again);
    unsubscribe();
  }
}

function shown(task: TaskRecord | undefined): unknown {
  if (task === undefined) return "gone";
  const { waits, inbox, status, worker, epoch, dueAt, fruitless } = task;
  const open = waits.map(({ wire }) => wire);
  const arrived = inbox.map(({ id }) => id);
  return { status, worker, epoch, dueAt, fruitless, open, arrived };
}

/** Its entries in short. */
export async function journalOf(
  store: TaskStore,
  id: string,
  callId: string,
): Promise<readonly string[]> {
  const entries = readEntries(openSealer, callId, await store.readLog(id));
  return entries.map(({ kind, key }) => `${kind} ${key}`);
}
