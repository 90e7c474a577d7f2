// Breaks the task engine on purpose, from outside, to prove that the harness would find a mistake.

import { Lease } from "../../src/tasks/execution/lease-time.ts";
import { entryRecord, readEntries } from "../../src/tasks/execution/log-records.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import type { ClaimRef } from "../../src/tasks/task.ts";
import type { Sealer } from "../../src/tasks/sealing.ts";

/** These show only while tasks stream. */
const streamSabotages = ["stream-epoch", "stream-reset", "stream-delete"] as const;

export const sabotages = [
  "fence",
  "lease",
  "second-table",
  "unordered",
  ...streamSabotages,
] as const;

export type Sabotage = (typeof sabotages)[number];

export const isSabotage = (name: string): name is Sabotage =>
  sabotages.some((sabotage) => sabotage === name);

export function sabotaged(
  store: TaskStore,
  sealer: Sealer,
  sabotage: Sabotage | undefined,
): TaskStore {
  switch (sabotage) {
    case undefined:
    // The readers break this one.
    case "stream-reset":
      return store;
    case "fence":
      return withoutFence(store);
    case "lease":
      return withoutLosses(store);
    case "second-table":
      return withSecondTable(store);
    case "unordered":
      return unordered(store, sealer);
    case "stream-epoch":
      return withoutStreamEpochs(store);
    case "stream-delete":
      return withLeftParts(store);
  }
}

/** Makes every lease of this process endless, so that bodies may always start. */
export function breakLeases(): void {
  Object.defineProperty(Lease.prototype, "leftMs", { get: () => 3_600_000 });
}

/** Lets a worker that held the task once write forever, under any epoch and at any length of the log. */
function withoutFence(store: TaskStore): TaskStore {
  const write = async (
    { id }: ClaimRef,
    attempt: (ref: ClaimRef, logLength: number) => Promise<boolean>,
  ): Promise<boolean> => {
    // Another worker may be faster between the two calls.
    for (let tries = 0; tries < 10; tries += 1) {
      const task = await store.read(id);
      if (task === undefined) return false;
      if (await attempt({ id, epoch: task.epoch }, task.logLength)) return true;
    }
    return false;
  };
  return {
    ...store,
    append: (ref, more) => write(ref, (now, at) => store.append(now, { ...more, at })),
    publish: (ref, waiting) => write(ref, (now) => store.publish(now, waiting)),
    park: (ref, waiting) => write(ref, (now) => store.park(now, waiting)),
    release: (ref, why) => write(ref, (now) => store.release(now, why)),
    report: (ref, message) => write(ref, (now) => store.report(now, message)),
    finish: (ref, finish) => write(ref, (now) => store.finish(now, finish)),
    renew: async (worker, refs, leaseMs) => {
      const tasks = await Promise.all(refs.map(({ id }) => store.read(id)));
      const now = tasks.flatMap((task) =>
        task === undefined ? [] : [{ id: task.id, epoch: task.epoch }],
      );
      return store.renew(worker, now, leaseMs);
    },
  };
}

/** Makes a renewal hide that a task is lost. */
function withoutLosses(store: TaskStore): TaskStore {
  return {
    ...store,
    renew: async (worker, refs, leaseMs) => {
      const renewal = await store.renew(worker, refs, leaseMs);
      const held = new Map(renewal.held.map(({ id, inbox }) => [id, inbox]));
      return { ...renewal, held: refs.map(({ id }) => ({ id, inbox: held.get(id) ?? [] })) };
    },
  };
}

/**
 * Keeps the answers to a held task elsewhere, until the next claim. A worker that parks the task in between does not
 * know of them, and there is no next claim.
 */
function withSecondTable(store: TaskStore): TaskStore {
  return {
    ...store,
    answer: async (id, answers) => {
      const task = await store.read(id);
      if (task?.worker === undefined) return store.answer(id, answers);
      const accepted: string[] = [];
      for (const { wire, value } of answers) {
        const isAsked = task.waits.some((wait) => wait.wire === wire);
        if (!isAsked || (await store.spilled(place(id, wire))) !== undefined) continue;
        await store.spill(place(id, wire), value, 3_600_000, "");
        accepted.push(wire);
      }
      return { task, accepted };
    },
    claim: async (wanted) => {
      const claims = await store.claim(wanted);
      const claimed = claims.claimed.map(async (one) => {
        const kept = one.task.waits.map(async ({ wire }) => {
          const value = await store.spilled(place(one.task.id, wire));
          return value === undefined ? [] : [{ wire, value }];
        });
        const answers = (await Promise.all(kept)).flat();
        const answered = answers.length > 0 ? await store.answer(one.task.id, answers) : undefined;
        return { ...one, task: answered?.task ?? one.task };
      });
      return { ...claims, claimed: await Promise.all(claimed) };
    },
  };
}

/** Returns the log in the order of the keys, as a sorted map would. */
function unordered(store: TaskStore, sealer: Sealer): TaskStore {
  return {
    ...store,
    claim: async (wanted) => {
      const claims = await store.claim(wanted);
      const claimed = claims.claimed.map((one) => {
        const { callId } = one.task;
        const entries = readEntries(sealer, callId, one.log).toSorted((left, right) =>
          left.key < right.key ? -1 : 1,
        );
        return {
          ...one,
          log: entries.map((entry, seq) => entryRecord(sealer, callId, seq, entry)),
        };
      });
      return { ...claims, claimed };
    },
  };
}

/** Keeps the parts of streams without the claim that they belong to: any replica writes, even after a takeover. */
function withoutStreamEpochs(store: TaskStore): TaskStore {
  return {
    ...store,
    addParts: async ({ id }, parts) => {
      const task = await store.read(id);
      return task !== undefined && store.addParts({ id, epoch: task.epoch }, parts);
    },
    readParts: async (id, after) => {
      const task = await store.read(id);
      const page = await store.readParts(id, { epoch: task?.epoch ?? 0, n: after.n });
      return page && { ...page, epoch: 1 };
    },
  };
}

/** Leaves the parts of a stream when it is recorded. The harness also drops the trigger that deletes them later. */
function withLeftParts(store: TaskStore): TaskStore {
  return {
    ...store,
    append: (ref, { streamed: _streamed, ...more }) => store.append(ref, more),
  };
}

const place = (id: string, wire: string): string => `${id}/${wire}`;
