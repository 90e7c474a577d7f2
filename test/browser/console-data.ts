// What a console could show: enough of everything that each screen has something to say. The types are those of the wire,
// so this cannot say what a server would not.

import type {
  CallDetails,
  CallRow,
  EntryFacts,
  HealthFacts,
  InboxItem,
  RunFacts,
  Session,
  TaskCounts,
  TaskDetails,
  TaskRow,
  TaskStatus,
  TryOutcome,
} from "../../src/console/wire.ts";

const minute = 60_000;
const hour = 60 * minute;
const start = Date.now();

const tools = ["refund", "deploy", "onboard", "reindex", "import_csv"] as const;
const principals = ["ada@example.com", "ci-bot", "team-west", "bob@example.com"] as const;
const pick = <T>(list: readonly [T, ...T[]], at: number): T => list[at % list.length] ?? list[0];

/** An id that looks like one, and is the same in every run. */
const idFor = (at: number): string => {
  const digits = (Math.imul(at + 7, 2_654_435_761) >>> 0).toString(16).padStart(8, "0");
  return `${digits}-4c1d-8e2f-${digits}`;
};

export const session: Session = {
  app: "checkout-ops",
  version: "2.3.0",
  isDevelopment: true,
  who: "ada",
  groups: ["finance", "release"],
  may: "act",
  values: true,
  hasKeys: true,
  hasStore: true,
  tools: tools.map((name) => ({
    name,
    description: `${name} for one order, with every question that it takes.`,
    hasTask: true,
    inputSchema: {
      type: "object",
      properties: {
        order: { type: "integer", title: "Order", minimum: 1 },
        reason: { type: "string", enum: ["Damaged", "Late", "Other"] },
        note: { type: "string", description: "Only we see this." },
      },
      required: ["order", "reason"],
    },
  })),
};

export const counts: TaskCounts = {
  live: 12_504,
  running: 12,
  inputRequired: 8211,
  due: 3,
  undoing: 1,
};

/** Which of the tasks is stuck. */
export const stuckAt = 73_512;

export const bigTask = "00000500-4c1d-8e2f-00000500";
export const openTask: string = idFor(1);

/** A task of the list. The newest has the number 0. */
export function taskAt(at: number): TaskRow {
  const isStuck = at === stuckAt;
  const status = isStuck
    ? "working"
    : pick<TaskStatus>(
        ["working", "input_required", "completed", "completed", "completed", "failed", "cancelled"],
        at,
      );
  const createdAt = start - 90_000 - at * 37_000;
  return {
    id: at === 2 ? bigTask : idFor(at),
    tool: pick(tools, at * 3 + 2),
    principal: pick(principals, at),
    status,
    createdAt,
    updatedAt: Math.min(start - 1000, createdAt + ((at * 7919) % 900) * 1000),
    waits: [],
    epoch: 2,
    fruitless: isStuck ? 9 : 0,
    ...(isStuck && {
      isStuck: true,
      why: "9 runs in a row ended without progress. The last one failed: connect ECONNREFUSED 10.0.4.12:5432",
    }),
    ...(status === "input_required" && { why: "Waits for an approval of finance: “pay”." }),
    ...(status === "working" && !isStuck && { why: "Runs on replica-b." }),
    ...(status === "failed" && { why: "The payment service refused the refund." }),
  };
}

export const inbox: readonly InboxItem[] = [
  {
    task: openTask,
    callId: "call-1",
    key: "pay",
    kind: "approval",
    tool: "refund",
    group: "finance",
    principal: "ci-bot",
    since: start - 26 * hour,
    dueAt: start + 5 * hour,
    message: "Refund 1,240.00 € to Käthe Müller for order 88213?",
    about: { Amount: "1,240.00 €", Order: 88_213, "Paid by card": true },
    decisions: [
      {
        who: "grace",
        isApproved: true,
        at: start - 2 * hour,
        note: "I have checked the invoice.",
        via: "page",
      },
    ],
    needed: 2,
    mayAnswer: true,
  },
  {
    task: idFor(8),
    callId: "call-8",
    key: "prod",
    kind: "approval",
    tool: "deploy",
    group: "release",
    principal: "ci-bot",
    since: start - 3 * hour,
    message: "Deploy checkout 4.18.2 to production?",
    about: { Service: "checkout", Version: "4.18.2", Region: "eu-west-1" },
    decisions: [],
    needed: 1,
    mayAnswer: true,
  },
  {
    task: idFor(15),
    callId: "call-15",
    key: "badge",
    kind: "wait",
    tool: "onboard",
    group: "people",
    principal: "team-west",
    since: start - 40 * minute,
    message: "Which badge did the new colleague get?",
    form: {
      type: "object",
      properties: {
        number: {
          type: "string",
          title: "Badge number",
          minLength: 4,
          description: "On its back.",
        },
        floor: { type: "string", enum: ["1", "2", "3"] },
        start: { type: "string", format: "date" },
      },
      required: ["number", "floor"],
    },
    decisions: [],
    mayAnswer: true,
  },
  {
    task: idFor(22),
    callId: "call-22",
    key: "column",
    kind: "question",
    tool: "import_csv",
    principal: "bob@example.com",
    since: start - 5 * minute,
    message: "Which column holds the email address?",
    form: { type: "object", properties: { column: { type: "string" } }, required: ["column"] },
    field: "column",
    decisions: [],
    mayAnswer: false,
    whyNot:
      "This question is for the client. To answer it, you need the permission act_for_client.",
  },
];

/** A task that asked, waited for a person, lost a replica, and waits again. */
export function taskDetails(row: TaskRow): TaskDetails {
  const began = start - 3 * hour - 20 * minute;
  const later = began + 31 * minute;
  const taken = later + 2 * minute;
  const isOpen = row.status === "input_required";
  const entries: readonly EntryFacts[] = [
    step(0, "load-order", 1, began + 420, 310, { order: 88_213, total: 124_000 }),
    { ...step(1, "score-risk", 1, began + 3400, 2900, { score: 0.12 }), tries: 3 },
    { seq: 2, kind: "background", epoch: 1, at: began + 3410, bytes: 20 },
    {
      seq: 3,
      kind: "answer",
      key: "reason",
      epoch: 2,
      at: later,
      bytes: 130,
      value: "Damaged on arrival",
      via: "page",
      digest: "aa12c0d9e4f7",
    },
    {
      ...step(4, "reserve-funds", 2, later + 800, 640, { hold: "h_829" }),
      undo: "release-funds",
    },
    { seq: 5, kind: "timer", key: "settle", epoch: 4, at: taken + 700, bytes: 20 },
    {
      seq: 6,
      kind: "threw",
      key: "notify-crm",
      epoch: 4,
      at: taken + 4800,
      ms: 3100,
      tries: 5,
      bytes: 320,
      error: "The CRM responded with 503, five times.",
    },
    step(7, "open-ticket", 4, taken + 5600, 700, { ticket: "OPS-991" }),
  ];
  const runs: readonly RunFacts[] = [
    { epoch: 1, worker: "replica-a", beganAt: began + 100, endedAt: began + 3500, how: "parked" },
    { epoch: 2, worker: "replica-b", beganAt: later, endedAt: later + 1000, how: "parked" },
    { epoch: 3, worker: "replica-a", beganAt: taken - 30_000, isSilent: true },
    { epoch: 4, worker: "replica-c", beganAt: taken, endedAt: taken + 6000, how: "parked" },
  ];
  return {
    task: {
      ...row,
      createdAt: began,
      updatedAt: taken + 6000,
      callId: "01J9ZX3C5T8K",
      expiresAt: start + hour,
      logLength: entries.length,
      logBytes: 1358,
      undos: 0,
      input: { order: 88_213, reason: "damaged" },
      ...(!isOpen && { result: { content: [{ type: "text", text: "Refunded." }] } }),
    },
    entries,
    runs,
    waits: isOpen ? [{ kind: "approval", key: "pay", group: "finance", since: taken + 6000 }] : [],
    audit: [
      { id: "a1", at: later, action: "answered", key: "reason", who: "bob", via: "page" },
      {
        id: "a2",
        at: start - 2 * hour,
        action: "decided",
        key: "pay",
        who: "grace",
        via: "page",
        note: "I have checked the invoice.",
      },
    ],
    mayRerun: true,
    mayCancel: isOpen,
  };
}

const step = (
  seq: number,
  key: string,
  epoch: number,
  at: number,
  ms: number,
  value: NonNullable<EntryFacts["value"]>,
): EntryFacts => ({
  seq,
  kind: "step",
  key,
  epoch,
  at,
  ms,
  tries: 1,
  bytes: 96 + key.length,
  value,
  digest: `3f9a2c11d0${seq}`,
  idempotencyKey: `01J9ZX3C5T8K/${key}`,
});

/** A task with 500 entries, made by ten runs. */
export function bigTaskDetails(): TaskDetails {
  const began = start - 10 * minute;
  const entries = Array.from({ length: 500 }, (_, seq) =>
    step(seq, `batch-${seq}`, 1 + Math.floor(seq / 50), began + (seq + 1) * 900, 200, { seq }),
  );
  const runs = Array.from({ length: 10 }, (_, run): RunFacts => ({
    epoch: run + 1,
    worker: `replica-${"abc"[run % 3]}`,
    beganAt: began + run * 45_000,
    endedAt: began + run * 45_000 + 45_000,
    how: run === 9 ? "finished" : "parked",
  }));
  return {
    task: {
      ...taskAt(2),
      createdAt: began,
      updatedAt: began + 450_000,
      callId: "01J9ZX3C5T8L",
      expiresAt: start + hour,
      logLength: 500,
      logBytes: 48_000,
      undos: 0,
    },
    entries,
    runs,
    waits: [],
    audit: [],
    mayRerun: true,
    mayCancel: false,
  };
}

export const health = (): HealthFacts => ({
  now: Date.now(),
  workers: [
    { name: "replica-a", seenAt: start - 167 * minute, isSilent: true },
    { name: "replica-b", seenAt: Date.now() - 2000, isSilent: false },
    { name: "replica-c", seenAt: Date.now() - 900, isSilent: false },
  ],
  oldestDue: start - 9 * minute,
  waiting: 4,
  waitingSince: start - 26 * hour,
  refusedTokens: { expired: 14, wrong_caller: 2, tampered: 1 },
  storeErrors: 0,
  roundsPerCall: { 1: 4021, 2: 812, 3: 96, 4: 7 },
  figures: counts,
  audit: [
    {
      id: "9",
      at: start - 20_000,
      action: "decided",
      tool: "refund",
      taskId: openTask,
      key: "pay",
      who: "grace",
      via: "page",
      note: "I have checked the invoice.",
    },
    {
      id: "8",
      at: start - 80_000,
      action: "cancelled",
      tool: "reindex",
      taskId: idFor(30),
      who: "ada",
      via: "console",
    },
    {
      id: "7",
      at: start - 800_000,
      action: "answered",
      tool: "onboard",
      taskId: idFor(31),
      key: "badge",
      who: "bob",
      via: "app",
    },
  ],
});

export const calls: readonly [CallRow, ...CallRow[]] = [
  {
    id: "01J9ZX4M",
    target: "book_table",
    beganAt: start - 90_000,
    endedAt: start - 40_000,
    rounds: 3,
    status: "completed",
    principal: "ada@example.com",
  },
  { id: "01J9ZX4K", target: "refund", beganAt: start - 200_000, rounds: 1, status: "waiting" },
  {
    id: "01J9ZX4H",
    target: "deploy",
    beganAt: start - 400_000,
    endedAt: start - 399_000,
    rounds: 1,
    status: "failed",
  },
];

export function callDetails(): CallDetails {
  const [call] = calls;
  const began = call.beganAt;
  const entries: readonly EntryFacts[] = [
    {
      seq: 0,
      kind: "step",
      key: "find-tables",
      epoch: 1,
      bytes: 120,
      ms: 14,
      line: "book.ts:21",
      value: [4, 7],
    },
    {
      seq: 1,
      kind: "answer",
      key: "when",
      epoch: 2,
      bytes: 60,
      line: "book.ts:25",
      value: "2026-11-20",
    },
    { seq: 2, kind: "step", key: "hold", epoch: 2, bytes: 44, ms: 8, line: "book.ts:30" },
    { seq: 3, kind: "answer", key: "sure", epoch: 3, bytes: 20, line: "book.ts:33", value: true },
    { seq: 4, kind: "step", key: "book", epoch: 3, bytes: 80, ms: 20, line: "book.ts:36" },
  ];
  return {
    call,
    rounds: [
      {
        round: 1,
        at: began,
        ms: 18,
        requestBytes: 412,
        responseBytes: 960,
        entries: entries.slice(0, 1),
        response: { asks: ["when"] },
      },
      {
        round: 2,
        at: began + 30_000,
        ms: 12,
        requestBytes: 890,
        responseBytes: 1100,
        tokenBytes: 402,
        token: { tool: "book_table", round: 1, entries: 1 },
        answers: { when: "2026-11-20" },
        entries: entries.slice(0, 3),
        response: { asks: ["sure"] },
      },
      {
        round: 3,
        at: began + 49_976,
        ms: 24,
        requestBytes: 1020,
        responseBytes: 300,
        tokenBytes: 512,
        token: { tool: "book_table", round: 2, entries: 3 },
        answers: { sure: true },
        entries,
        response: { content: [{ type: "text", text: "Table 7 is yours on Friday." }] },
      },
    ],
  };
}

/** What a tool that was tried returns: a question, then a result. Tampering is refused. */
export function tried(body: object): TryOutcome {
  const exchange = {
    call: "try-1",
    request: { method: "tools/call", params: { name: "refund" } },
    response: { result: {} },
    requestBytes: 412,
    responseBytes: 905,
  };
  if ("tamper" in body) {
    const error = { code: -32_602, message: "The state of this call was changed. Start it again." };
    return { ...exchange, status: "refused", questions: [], error, tokenBytes: 402 };
  }
  if ("answers" in body) {
    const result = { content: [{ type: "text", text: "Refunded order 88213." }] };
    return { ...exchange, status: "completed", questions: [], result };
  }
  return {
    ...exchange,
    status: "input_required",
    tokenBytes: 402,
    questions: [
      {
        key: "sure",
        message: "Refund 1,240.00 € for order 88213?",
        form: {
          type: "object",
          properties: {
            how: { type: "string", title: "How", enum: ["To the card", "As a voucher"] },
          },
          required: ["how"],
        },
      },
    ],
  };
}
