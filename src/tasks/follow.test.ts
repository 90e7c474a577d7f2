// What followers read, and what they are told.

import { expect, test } from "vitest";
import { create, hold, keepMs, park, question } from "../testing/store/opened.ts";
import { Followers } from "./follow.ts";
import type { TaskSnapshot } from "./snapshot.ts";
import { MemoryStore } from "./stores/memory.ts";
import type { ChangeHint, TaskStore } from "./store.ts";
import type { TaskRecord } from "./task.ts";

const silent = { storeFailed: () => {}, storeBack: () => {} };

/** A snapshot with as much as these tests look at. */
const show = ({ id, revision, status }: TaskRecord) => {
  return { id, revision, status } as TaskSnapshot;
};

/** A store that counts what is read of it, and whose hints a test can add to or leave out. */
function watched(mayTell: (hint: ChangeHint) => ChangeHint | undefined = (hint) => hint) {
  const store = new MemoryStore();
  const listeners = new Set<(hint: ChangeHint) => void>();
  const reads: string[] = [];
  const read: TaskStore["read"] = (id) => {
    reads.push(id);
    return store.read(id);
  };
  const subscribe: TaskStore["subscribe"] = (listener) => {
    listeners.add(listener);
    return store.subscribe((hint) => {
      const told = mayTell(hint);
      if (told !== undefined) listener(told);
    });
  };
  const followed = new Proxy<TaskStore>(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get({ ...target, read, subscribe }, key);
      return value;
    },
  });
  const hint = (one: ChangeHint) => {
    for (const listener of listeners) listener(one);
  };
  return { store, reads, hint, followers: new Followers(followed, silent) };
}

const finish = (store: TaskStore, ref: { id: string; epoch: number }) =>
  store.finish(ref, { status: "completed", result: "r", statusMessage: undefined, keepMs });

const forever = new AbortController().signal;
/** Long enough that nothing is read again because a gap is over. */
const gapMs = 600_000;

test("a change that this process has made is shown without reading the task", async () => {
  const { store, reads, followers } = watched();
  const ref = await hold(store, "a");
  const following = followers.follow(ref.id, 0, forever, show);
  const seen = [(await following.next()).value];
  const next = following.next();
  await finish(store, ref);
  seen.push((await next).value);
  expect(seen).toMatchObject([{ status: "working" }, { status: "completed" }]);
  expect((await following.next()).done).toBe(true);
  expect(reads).toEqual([ref.id]);
});

test("a hint without the task has it read, even if the record of an earlier change comes later", async () => {
  const kept: ChangeHint[] = [];
  const { store, reads, hint, followers } = watched((one) => void kept.push(one));
  const ref = await hold(store, "a");
  const following = followers.follow(ref.id, 0, forever, show);
  await following.next();
  const next = following.next();
  await store.report(ref, "half");
  await finish(store, ref);
  const [report] = kept;
  hint({ id: ref.id });
  hint(report ?? { id: ref.id });
  expect((await next).value).toMatchObject({ status: "completed" });
  expect(reads).toHaveLength(2);
});

test("of many tasks, one that changes while the reader waits is not read", async () => {
  const { store, reads, followers } = watched();
  const [one, other] = [await hold(store, "a"), await create(store, "b")];
  const following = followers.followAll([one.id, other.id], gapMs, forever, show);
  await following.next();
  await following.next();
  const next = following.next();
  await finish(store, one);
  expect((await next).value).toMatchObject({ id: one.id, status: "completed" });
  expect(reads.toSorted()).toEqual([one.id, other.id]);
  await following.return();
});

test("of many tasks, the records of all but one are read when their turn comes", async () => {
  const { store, reads, followers } = watched();
  const refs = [await hold(store, "a"), await hold(store, "b"), await hold(store, "c")];
  const ids = refs.map(({ id }) => id);
  const following = followers.followAll(ids, gapMs, forever, show);
  for (const _ of refs) await following.next();
  reads.length = 0;
  // The reader takes nothing meanwhile, so that only one record is kept for it.
  for (const ref of refs) await finish(store, ref);
  const seen: string[] = [];
  for await (const { id, status } of following) seen.push(`${id} ${status}`);
  expect(seen.toSorted()).toEqual(ids.map((id) => `${id} completed`));
  expect(reads).toHaveLength(2);
});

test("what a follower was shown last is known until it ends", async () => {
  const { store, followers } = watched();
  const ref = await park(store, "a", [question("k")]);
  expect(followers.shown(ref.id)).toBeUndefined();
  const following = followers.follow(ref.id, 0, forever, show);
  await following.next();
  expect(followers.shown(ref.id)).toMatchObject({ id: ref.id, status: "input_required" });
  await following.return();
  expect(followers.shown(ref.id)).toBeUndefined();
});

test("of many tasks, only the one that was shown last is known", async () => {
  const { store, followers } = watched();
  const ids = [(await create(store, "a")).id, (await create(store, "b")).id];
  const following = followers.followAll(ids, gapMs, forever, show);
  await following.next();
  await following.next();
  expect(ids.map((id) => followers.shown(id)?.id)).toEqual([undefined, ids[1]]);
  await following.return();
});
