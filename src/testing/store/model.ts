// Random sequences of operations, compared with the model, MemoryStore: the results, the records and the times must be the
// same. On failure, fast-check prints the seed and the sequence.

import fc from "fast-check";
import { expect } from "./expect.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import type { TaskReader } from "../../tasks/task-reader.ts";
import type { Arrival, ClaimRef, Wait } from "../../tasks/task.ts";
import { nowOf, startsAt } from "./opened.ts";
import type { OpenStore } from "./opened.ts";

const numRuns = Number(process.env["PARLEY_PROPERTY_RUNS"] ?? 60);
const size = { size: "max" } as const;

/** What an operation needs to know about the state at its turn. It is the same for both stores. */
interface World {
  readonly now: number;
  readonly model: TaskStore;
  /** Whether the store takes records along with other writes. */
  readonly appendsWithNext: boolean;
}
type Operation = (world: World) => Promise<(store: TaskStore) => Promise<unknown>>;

const oneOf = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
const number = oneOf(0, 1, 2);
const id = number.map((n) => `task-${n}`);
const tool = oneOf("one", "two");
const worker = oneOf("v", "w");
const principal = oneOf("", "ann");
const key = oneOf("k", "l", "__proto__");
const wire = oneOf("k", "l", "__proto__", "k~1");
const text = oneOf("", "a", "é👍");
const span = oneOf(0, 1, 50, 1_000);
const some = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 2 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const wait = (now: number) =>
  fc
    .record({
      kind: oneOf("question", "external", "timer"),
      key,
      wire,
      dueIn: optional(span),
      needs: oneOf({}, { needs: 1 }, { needs: 2 }, { needs: 2 }),
    })
    .map(({ dueIn, kind, needs, ...names }): Wait => {
      const dueAt = dueIn === undefined ? (kind === "timer" ? now : undefined) : now + dueIn;
      return {
        ...names,
        kind,
        ...(kind === "timer" ? {} : { digest: `digest of ${names.key}` }),
        ...(dueAt === undefined ? {} : { dueAt }),
        ...(kind === "question" ? { request: "ask" } : {}),
        // A decision in the last moments before its time limit may be refused, because the store measures the wait for the row.
        ...(kind === "external" && (dueAt ?? Infinity) >= now + 1_000 ? needs : {}),
      };
    });
const waits = fc
  .uniqueArray(wait(startsAt), { maxLength: 3, selector: (one) => one.wire })
  .map((all) => all);
const asked = fc
  .uniqueArray(fc.tuple(key, oneOf(1, 2)), { maxLength: 2, selector: ([name]) => name })
  .map((entries): Record<string, number> => Object.fromEntries(entries));
const taken = some(wire);
const waiting = fc.record({ waits, asked, taken });
const inbox = fc.uniqueArray(
  fc
    .record({ id: wire, key, digest: text, value: text, at: span, dueAt: optional(span) })
    .map(({ dueAt, ...rest }): Arrival => ({ ...rest, ...(dueAt === undefined ? {} : { dueAt }) })),
  { maxLength: 2, selector: (one) => one.id },
);

/** Usually the current epoch, sometimes an earlier one. */
const held = fc
  .record({ id, lag: oneOf(0, 0, 0, 0, 1) })
  .map((one) => async ({ model }: World): Promise<ClaimRef> => {
    const epoch = (await model.read(one.id))?.epoch ?? 1;
    return { id: one.id, epoch: epoch - one.lag };
  });

const create = fc
  .record({
    number,
    tool,
    principal,
    input: text,
    log: some(text),
    inbox,
    undos: oneOf(0, 0, 1, 2),
    ttlMs: oneOf(0, 100, 5_000, 50_000, 50_000),
    claimedBy: optional(
      fc.record({
        worker,
        leaseMs: span,
      }),
    ),
    most: oneOf(0, 1, 2, 9, 9, 9),
  })
  .map(({ number: n, most, ...rest }): Operation => async () => (store) => {
    return store.create({ id: `task-${n}`, callId: `call-${n}`, ...rest }, most);
  });

const answer = fc
  .record({
    id,
    answers: fc.uniqueArray(
      fc.record({
        wire,
        value: text,
        early: oneOf(undefined, undefined, undefined, {
          key: "l",
          digest: "d",
        }),
      }),
      { maxLength: 3, selector: (one) => one.wire },
    ),
    by: optional(fc.record({ worker, leaseMs: span })),
  })
  .map(
    (given): Operation =>
      async () =>
      (store) =>
        store.answer(given.id, given.answers, given.by),
  );

const decide = fc
  .record({ id, wire, who: oneOf("bo", "cy"), approves: oneOf(true, true, false), value: text })
  .map(({ id: task, wire: of, ...decision }): Operation => async () => async (store) => {
    // A decision is not compared within the second before a time limit, for the same reason.
    const now = await nowOf(store);
    const found = (await store.read(task))?.waits.find((one) => one.wire === of);
    const dueAt = found?.dueAt ?? 0;
    const isSoon = dueAt > now && dueAt < now + 1_000;
    return isSoon ? undefined : store.approvals?.decide(task, of, decision);
  });

const append = fc
  .record({
    held,
    off: oneOf(0, 0, 0, -1, 1),
    records: some(text),
    taken,
    returned: inbox,
    undos: oneOf(undefined, undefined, undefined, 1, 2),
    streamed: oneOf(undefined, undefined, "k", "l"),
    took: oneOf(undefined, { ms: 5, tries: 1 }),
    expired: oneOf(undefined, undefined, "k", "l"),
  })
  .map(({ held: ref, off, ...more }): Operation => async (world) => {
    const claim = await ref(world);
    const at = Math.max(0, ((await world.model.read(claim.id))?.logLength ?? 0) + off);
    return (store) => store.append(claim, { ...more, at });
  });

const addParts = fc
  .record({ held, parts: fc.uniqueArray(number, { maxLength: 2 }), key, record: text })
  .map(({ held: ref, parts, ...rest }): Operation => async (world) => {
    const claimed = await ref(world);
    const rows = parts.map((n) => ({ n, ...rest }));
    return (store) => store.addParts(claimed, rows);
  });

/** Records that come along with another write, usually at the end of the log. */
const addition = optional(fc.record({ off: oneOf(0, 0, 0, -1, 1), records: some(text) }));
const additionTo = async (
  { model }: World,
  { id: of }: ClaimRef,
  given: { readonly off: number; readonly records: readonly string[] } | undefined,
) => {
  if (given === undefined) return {};
  const at = Math.max(0, ((await model.read(of))?.logLength ?? 0) + given.off);
  return { append: { at, records: given.records } };
};

const park = fc
  .record({ held, left: waiting, append: addition })
  .map(({ held: ref, left, append: along }): Operation => async (world) => {
    const claim = await ref(world);
    const more = await additionTo(world, claim, world.appendsWithNext ? along : undefined);
    return (store) => store.park(claim, { ...left, ...more });
  });

const finish = fc
  .record({
    held,
    append: addition,
    finish: fc.record({
      status: oneOf("completed", "failed"),
      result: text,
      statusMessage: optional(text),
      keepMs: span,
      isUndoing: oneOf(false, true, undefined),
    }),
  })
  .map(({ held: ref, finish: end, append: along }): Operation => async (world) => {
    const claim = await ref(world);
    const more = await additionTo(world, claim, world.appendsWithNext ? along : undefined);
    return (store) => store.finish(claim, { ...end, ...more });
  });

const undo = fc
  .record({ held, off: oneOf(0, 0, 0, -1, 1), records: some(text), undos: number, keepMs: span })
  .map(({ held: ref, off, ...progress }): Operation => async (world) => {
    const claimed = await ref(world);
    const at = Math.max(0, ((await world.model.read(claimed.id))?.logLength ?? 0) + off);
    return (store) => store.undo(claimed, { ...progress, at });
  });

const under = (write: (store: TaskStore, ref: ClaimRef) => Promise<unknown>, ref: typeof held) =>
  ref.map((claim): Operation => async (world) => {
    const claimed = await claim(world);
    return (store) => write(store, claimed);
  });

const claim = fc.record({ worker, tools: some(tool), most: oneOf(0, 1, 9, 9), leaseMs: span }).map(
  (wanted): Operation =>
    async () =>
    (store) =>
      store.claim(wanted),
);

const renew = fc
  .record({ worker, refs: fc.uniqueArray(number), leaseMs: span })
  .map(({ worker: who, refs, leaseMs }): Operation => async ({ model }) => {
    const tasks = await Promise.all(refs.map((n) => model.read(`task-${n}`)));
    const claims = tasks.map((task, index) => ({
      id: `task-${refs[index]}`,
      epoch: task?.epoch ?? 1,
    }));
    return (store) => store.renew(who, claims, leaseMs);
  });

const callId = oneOf("c", "d");
const claimRound = fc
  .record({
    principal,
    callId,
    round: oneOf(1, 2),
    answers: oneOf("x", "x", "y"),
    leaseMs: span,
    ttlMs: oneOf(100, 5_000),
  })
  .map(
    (round): Operation =>
      async () =>
      (store) =>
        store.claimRound(round),
  );
const round = fc
  .record({ id: callId, epoch: oneOf(1, 1, 2), what: oneOf(0, 1, 2, 3), at: number, value: text })
  .map(({ what, at, value, ...ref }): Operation => async () => (store) => {
    const writes = [
      () => store.renewRound(ref, 50),
      () => store.appendToRound(ref, at, value),
      () => store.endRound(ref, value),
      () => store.releaseRound(ref),
    ];
    return writes[what]!();
  });

const page = fc
  .record({ principal: optional(principal), limit: oneOf(0, 1, 9), after: optional(id) })
  .map(({ after, ...rest }): Operation => async ({ now }) => {
    const last = after === undefined ? undefined : { createdAt: now, id: after };
    return (store) => store.list({ ...rest, after: last });
  });

const constant = (call: (store: TaskStore) => Promise<unknown>) =>
  fc.constant<Operation>(async () => call);
const given = <T>(value: fc.Arbitrary<T>, call: (store: TaskStore, value: T) => Promise<unknown>) =>
  value.map(
    (one): Operation =>
      async () =>
      (store) =>
        call(store, one),
  );

const why = fc.record({ afterMs: span, isFruitless: fc.boolean(), cause: optional(text) });
const operation: fc.Arbitrary<Operation | number> = fc.oneof(
  { weight: 4, arbitrary: create },
  { weight: 4, arbitrary: claim },
  { weight: 4, arbitrary: answer },
  { weight: 4, arbitrary: decide },
  { weight: 3, arbitrary: append },
  { weight: 3, arbitrary: addParts },
  { weight: 3, arbitrary: park },
  {
    weight: 3,
    arbitrary: waiting.chain((left) => under((store, ref) => store.publish(ref, left), held)),
  },
  { weight: 2, arbitrary: renew },
  { weight: 2, arbitrary: why.chain((is) => under((store, ref) => store.release(ref, is), held)) },
  { weight: 1, arbitrary: text.chain((is) => under((store, ref) => store.report(ref, is), held)) },
  { weight: 2, arbitrary: finish },
  { weight: 3, arbitrary: undo },
  { weight: 2, arbitrary: given(id, (store, one) => store.cancel(one, 100)) },
  {
    weight: 1,
    arbitrary: given(fc.record({ id, stuckAfter: oneOf(0, 0, 1), keepMs: span }), (store, one) =>
      store.requeue(one.id, one),
    ),
  },
  { weight: 1, arbitrary: given(span, (store, keepMs) => store.sweep(1_000, keepMs)) },
  { weight: 1, arbitrary: given(span, (store, unreadMs) => store.sweep(1_000, 100, unreadMs)) },
  { weight: 1, arbitrary: given(span, (store, ms) => store.sweep(1_000, 100, undefined, ms)) },
  { weight: 1, arbitrary: given(id, (store, one) => store.noteRead([one])) },
  { weight: 1, arbitrary: given(principal, (store, one) => store.removeEnded(one, 9, 100)) },
  { weight: 1, arbitrary: given(worker, (store, one) => store.leave(one)) },
  { weight: 1, arbitrary: constant((store) => store.figures()) },
  { weight: 1, arbitrary: page },
  { weight: 1, arbitrary: given(callId, (store, one) => store.spill(one, "state", 100, "ann")) },
  { weight: 1, arbitrary: given(callId, (store, one) => store.spilled(one)) },
  { weight: 1, arbitrary: given(callId, (store, one) => store.countSpilled("ann", one)) },
  { weight: 1, arbitrary: given(callId, (store, one) => store.fill(one, "answer")) },
  { weight: 1, arbitrary: given(callId, (store, one) => store.filled(one)) },
  { weight: 3, arbitrary: claimRound },
  { weight: 4, arbitrary: round },
  // A number moves the clock.
  { weight: 2, arbitrary: oneOf(1, 50, 50, 100, 100, 5_000) },
);

/** Compares random sequences of operations. */
export async function followsModel(open: OpenStore): Promise<void> {
  // Without a task there is little to do, so each sequence begins with two.
  const rest = fc.array(operation, { minLength: 1, maxLength: 40, ...size });
  const sequences = fc.tuple(create, create, rest).map(([one, other, all]) => [one, other, ...all]);
  await fc.assert(
    fc.asyncProperty(sequences, (operations) => follow(open, operations)),
    { numRuns, endOnFailure: false },
  );
}

async function follow(open: OpenStore, operations: readonly (Operation | number)[]): Promise<void> {
  const { store, advance, close } = await open({ startsAt });
  try {
    let now = await nowOf(store);
    const model = new MemoryStore({ now: () => now });
    // A store may leave approvals out.
    if (store.approvals === undefined) Object.assign(model, { approvals: undefined });
    const appendsWithNext = store.appendsWithNext === true;
    for (const next of operations) {
      if (typeof next === "number") {
        await advance(next);
        now = await nowOf(store);
        continue;
      }
      const call = await next({ now, model, appendsWithNext });
      const [wanted, got] = [await call(model), await call(store)];
      expect(got).toEqual(wanted);
      const reader = store.reader && model.reader;
      expect(await everything(store, store.reader)).toEqual(await everything(model, reader));
    }
  } finally {
    await close();
  }
}

/** Sizes are left out, because stores count them in slightly different ways. */
async function counts(store: TaskStore, of: string): Promise<unknown> {
  const { live, ended } = await store.usage(of);
  return { live, ended, counted: (await store.countEnded?.(of)) ?? ended };
}

/** Everything that can be read from a store. */
async function everything(store: TaskStore, reader: TaskReader | undefined): Promise<unknown> {
  const ids = ["task-0", "task-1", "task-2"];
  return {
    tasks: await Promise.all(ids.map((one) => store.read(one))),
    logs: await Promise.all(ids.map((one) => store.readLog(one))),
    parts: await Promise.all(ids.map((one) => store.readParts(one, { epoch: 1, n: 0 }))),
    byCall: await Promise.all(["call-0", "call-1", "call-2"].map((one) => store.readByCall(one))),
    revisions: await store.revisions(ids),
    list: await store.list({ principal: undefined, after: undefined, limit: 10 }),
    figures: await store.figures(),
    usage: await Promise.all(["", "ann"].map((one) => counts(store, one))),
    history: await Promise.all(ids.map((one) => reader?.log(one, 0, 99))),
    runs: await Promise.all(ids.map((one) => reader?.runs(one))),
    waiting: await reader?.waiting({ limit: 9 }),
    found: await reader?.find({ limit: 9, status: "working" }),
    stuck: await reader?.find({ limit: 9, stuckMs: 100 }),
  };
}
