import { expect, test } from "vitest";
import { created } from "../../tasks/new-task.ts";
import type { TaskRecord, Wait } from "../../tasks/task.ts";
import { stateOf } from "./task-state.ts";

const now = 1_000_000_000;
const given = {
  id: "t",
  callId: "c",
  tool: "bake",
  principal: "",
  input: "",
  log: [],
  inbox: [],
  claimedBy: undefined,
};

/** The state of a task with these members. */
const state = (members: Partial<TaskRecord>): string =>
  stateOf({ ...created({ ...given, ttlMs: 3_600_000 }, now), dueAt: undefined, ...members }, now);

const worker = "vm-9826-a05a4a@1.0.0";
const timer = (ms: number): Wait => ({ kind: "timer", key: "nap", wire: "nap", dueAt: now + ms });
const approval: Wait = { kind: "external", key: "go", wire: "go", group: "managers", needs: 2 };
const agreed = { who: "ada", approves: true, value: "", at: now };

test.each<[what: string, members: Partial<TaskRecord>, state: string]>([
  ["runs", { worker, epoch: 3, dueAt: now + 9_000 }, "runs on vm-9826-a05a4a@1.0.0 (run 3)"],
  [
    "lost its worker",
    { worker, dueAt: now - 4_000 },
    "held by vm-9826-a05a4a@1.0.0, whose lease ended 4.0 s ago",
  ],
  [
    "lost its worker, and nobody takes it up",
    { worker, dueAt: now - 255_000 },
    "held by vm-9826-a05a4a@1.0.0, whose lease ended 4 min 15 s ago, no worker takes it up",
  ],
  ["is due", { dueAt: now - 500 }, "due for 500 ms"],
  [
    "is due because its timer is over",
    { dueAt: now - 255_000, waits: [timer(-255_000)] },
    "due for 4 min 15 s, no worker takes it up",
  ],
  [
    "runs after its timer was over",
    { worker, epoch: 2, dueAt: now + 9_000, waits: [timer(-500)] },
    "runs on vm-9826-a05a4a@1.0.0 (run 2)",
  ],
  [
    "sleeps",
    { dueAt: now + 90_000, waits: [timer(90_000)] },
    "waits for a timer (another 1 min 30 s)",
  ],
  [
    "asks while it runs",
    {
      status: "input_required",
      worker,
      epoch: 1,
      dueAt: now + 9_000,
      waits: [{ kind: "question", key: "size", wire: "size" }],
    },
    "runs on vm-9826-a05a4a@1.0.0 (run 1); waits for size",
  ],
  ["needs approval", { waits: [approval] }, "waits for go (0 of 2 agreed, group managers)"],
  [
    "has one approval",
    { waits: [{ ...approval, decisions: [agreed] }] },
    "waits for go (1 of 2 agreed, group managers)",
  ],
  [
    "failed and is tried again",
    { dueAt: now + 5_000, epoch: 2, fruitless: 2, waits: [timer(-500)] },
    "is tried again in 5.0 s, as run 3; 2 attempts without progress",
  ],
  ["is over", { status: "completed" }, ""],
  [
    "undoes its steps",
    { status: "cancelled", undos: 2, dueAt: now },
    "due for 0 ms; 2 steps to undo",
  ],
])("a task that %s", (_, members, expected) => {
  expect(state(members)).toBe(expected);
});

test("a task that a worker cannot open names its key, if the keys here lack it", () => {
  const keys = { has: (id: string) => id === "mine", from: "PARLEY_KEYS" };
  const said = (members: Partial<TaskRecord>) =>
    stateOf({ ...created({ ...given, ttlMs: 3_600_000 }, now), epoch: 9, ...members }, now, keys);
  const why = 'sealed with the key "other", which is not in PARLEY_KEYS';
  expect(said({ input: "r1.other.AAAA", dueAt: now + 3_100 })).toBe(
    `is tried again in 3.1 s, as run 10; ${why}`,
  );
  expect(said({ input: "r1.mine.AAAA", dueAt: now + 3_100 })).not.toContain("sealed");
  // A replica with the new key sealed an answer that the others cannot open.
  const answer = { id: "a", key: "a", digest: "d", value: "r1.other.AAAA", at: now };
  expect(said({ input: "r1.mine.AAAA", inbox: [answer], dueAt: now })).toContain(why);
  expect(said({ input: "r1.other.AAAA", dueAt: now + 3_100, waits: [timer(3_100)] })).toBe(
    "waits for a timer (another 3.1 s)",
  );
});
