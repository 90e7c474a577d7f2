// The client of the errand, and everyone else that the errand waits for. It behaves like a process of its own: it only
// talks to the store, and keeps going when a worker dies.

import { Engine, openSealer } from "../../src/tasks/engine.fixture.ts";
import { readEntries } from "../../src/tasks/execution/log-records.ts";
import type { TaskStore } from "../../src/tasks/store.ts";

import { isLive } from "../../src/tasks/task.ts";
import type { TaskRecord } from "../../src/tasks/task.ts";
import { answeredInBetween } from "./interference.fixture.ts";

export interface Followed {
  readonly store: TaskStore;
  readonly id: string;
  readonly callId: string;
  /** Called after each answer, when there is something for the worker to do. */
  readonly nudge?: ((wire: string) => Promise<void>) | undefined;
}

const longestMs = 8_000;

/** Gives every answer at its time. When the task is over, resolves with the wire keys of the questions. */
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
    if (given?.accepted.join() !== wire) throw new Error(`The answer to ${wire} was not accepted.`);
    await nudge?.(wire);
  };

  await until("asks two things", (task) => isParkedAt(task, "size", "colour"));
  await answer("size", "bad");
  await until("asks again", (task) => isParkedAt(task, "size~2", "colour"));
  await answer("colour", "red");
  // The other question is answered while this one is handled (interference.fixture.ts), so the task is due when it parks.
  const isRacing = (task: TaskRecord) => isParkedAt(task, "hurry", "patience");
  await until("has both", (task) => isRacing(task) || isDueFor(task, answeredInBetween));
  await nudge?.(answeredInBetween);
  await until("races the answer", isRacing);
  await answer("hurry", "yes");
  await until("has moved on", (task) => isParkedAt(task, "patience", "maybe", "boss"));
  await answer("maybe", "too late");
  await until("waits for the boss", (task) => isParkedAt(task, "patience", "boss"));
  const delivery = await runtime.deliver(callId, "boss", "external boss", "fine");
  if (delivery !== "delivered") throw new Error(`The delivery of the boss ended as ${delivery}.`);
  await nudge?.("boss");
  await until("asks while it works", ({ waits }) => waits.some(({ wire }) => wire === "meanwhile"));
  await answer("meanwhile", "still here");
  await until("is over", (task) => !isLive(task));
  return [...asked].toSorted();
}

/** Whether no worker holds the task, nothing has arrived for it, and it waits for exactly this. */
function isParkedAt({ worker, inbox, waits }: TaskRecord, ...wires: string[]): boolean {
  const open = waits.map(({ wire }) => wire).toSorted();
  return worker === undefined && inbox.length === 0 && open.join() === wires.toSorted().join();
}

function isDueFor({ worker, inbox }: TaskRecord, wire: string): boolean {
  return worker === undefined && inbox.map(({ id }) => id).join() === wire;
}

/** Reads the task whenever there is a hint, and at intervals, because hints may be lost. */
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
        throw new Error(`The task never reached "${what}". It is ${JSON.stringify(shown(task))}.`);
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

/** The entries of the task, in short form. */
export async function journalOf(
  store: TaskStore,
  id: string,
  callId: string,
): Promise<readonly string[]> {
  const entries = readEntries(openSealer, callId, await store.readLog(id));
  return entries.map(({ kind, key }) => `${kind} ${key}`);
}
