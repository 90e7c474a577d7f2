// What the timeline shows: whose time passed, which worker died, and what each run replayed.

import { expect, test } from "vitest";
import type { EntryFacts, RunFacts } from "../wire.ts";
import { inRun, isUnknown, timelineOf } from "./timeline-model.ts";
import type { Told } from "./timeline-model.ts";
import { piecesOf, placeOf } from "./timeline-scale.ts";

const hour = 3_600_000;

// Run 1 asks and parks. A person answers an hour later. The worker of run 2 dies, and run 3 goes on.
const told: Told = {
  entries: [
    { seq: 0, kind: "step", key: "load", epoch: 1, at: 1000, ms: 400, tries: 1, bytes: 10 },
    { seq: 1, kind: "answer", key: "ok", epoch: 2, at: 1100 + hour, bytes: 10 },
    { seq: 2, kind: "step", key: "pay", epoch: 2, at: 1500 + hour, ms: 300, bytes: 10 },
    { seq: 3, kind: "threw", key: "mail", epoch: 3, at: 40_000 + hour, ms: 900, bytes: 10 },
  ],
  runs: [
    { epoch: 1, worker: "a", beganAt: 100, endedAt: 1100, how: "parked" },
    { epoch: 2, worker: "b", beganAt: 1100 + hour },
    { epoch: 3, worker: "c", beganAt: 31_500 + hour, endedAt: 41_500 + hour, how: "parked" },
  ],
  waits: [{ kind: "approval", key: "more", since: 41_500 + hour }],
  createdAt: 0,
  updatedAt: 41_500 + hour,
  isOver: false,
  now: 51_500 + hour,
};

test("an answer took as long as the task waited for it, and a step as long as its body ran", () => {
  const { rows } = timelineOf(told);
  expect(rows.map(({ key, lane, from, to }) => [key, lane, to - from])).toEqual([
    ["load", "server", 400],
    ["ok", "people", hour],
    ["pay", "server", 300],
    ["mail", "server", 900],
    ["more", "people", 10_000],
  ]);
});

test("people's time is apart from the server's", () => {
  const { serverMs, peopleMs, lostMs, otherMs } = timelineOf(told);
  // Run 2 counts until its last record, and nobody knows what its worker did until it was taken over.
  expect(serverMs).toBe(1000 + 400 + 10_000);
  expect(peopleMs).toBe(hour + 10_000);
  expect(lostMs).toBe(30_000);
  expect(otherMs).toBe(51_500 + hour - serverMs - peopleMs - lostMs);
});

test("an approval lasts until it is taken in, although a new version notes itself before", () => {
  const version = { kind: "version", at: 1090 + hour, epoch: 2, bytes: 10 } as const;
  const [load, ok, ...rest] = told.entries as [EntryFacts, EntryFacts];
  const entries = [
    { ...version, seq: 9, key: "1.0.0", at: 200, epoch: 1 },
    load,
    { ...version, seq: 8, key: "1.1.0" },
    ok,
    ...rest,
  ];
  const { rows, peopleMs, isMixed } = timelineOf({ ...told, entries });
  expect(rows.map(({ key, from, to }) => [key, to - from]).slice(0, 4)).toEqual([
    ["version 1.0.0 began", 0],
    ["load", 400],
    ["version 1.1.0 took over", 0],
    ["ok", hour],
  ]);
  expect(peopleMs).toBe(hour + 10_000);
  expect(isMixed).toBe(false);
});

test("the audit knows since when something was asked, and what had no answer at the end", () => {
  const asked = { id: "c.1", action: "asked", key: "ok", at: 600, group: "managers" };
  const cancelled: Told = {
    ...told,
    entries: told.entries.slice(0, 1),
    runs: told.runs.slice(0, 1),
    waits: [],
    audit: [asked],
    updatedAt: 1100 + hour,
    isOver: true,
  };
  const { rows, peopleMs, otherMs, isMixed } = timelineOf(cancelled);
  expect(rows[1]).toMatchObject({ key: "ok", what: "not answered", from: 600, to: 1100 + hour });
  expect([peopleMs, isMixed]).toEqual([hour, false]);
  expect(otherMs).toBe(100);
  // Without the audit, nobody knows whom it waited for.
  expect(timelineOf({ ...cancelled, audit: [] })).toMatchObject({ peopleMs: 0, isMixed: true });
  // Two answers that one run took in have both lasted since they were asked for.
  const [load, ok] = told.entries as [EntryFacts, EntryFacts];
  const two = { ...ok, seq: 7, key: "too" };
  const both = timelineOf({
    ...told,
    entries: [load, ok, two],
    audit: [asked, { ...asked, id: "c.2", key: "too", at: 700 }],
  });
  expect(both.rows.slice(1, 3).map(({ from }) => from)).toEqual([600, 700]);
});

test("without the keys it is not known which time was people's", () => {
  const sealed = told.entries.map(({ seq, epoch, at, bytes }) => ({ seq, epoch, at, bytes }));
  expect(timelineOf({ ...told, entries: sealed as EntryFacts[] }).isMixed).toBe(true);
});

test("a run after which another began without its end was lost, and its worker died if it is silent", () => {
  const statesOf = (runs: Told["runs"]) =>
    timelineOf({ ...told, runs }).runs.map(({ isLost, isDead, isOpen }) => [
      isLost,
      isDead,
      isOpen,
    ]);
  const [one, two, three] = told.runs as [RunFacts, RunFacts, RunFacts];
  const others = [false, false, false];
  expect(statesOf(told.runs)).toEqual([others, [true, false, false], others]);
  expect(statesOf([one, { ...two, isSilent: true }, three])[1]).toEqual([true, true, false]);
  const noted = { ...two, endedAt: 31_500 + hour, how: "lost" as const };
  expect(statesOf([one, noted, three])[1]).toEqual([true, false, false]);
  // A worker that has died since, and had ended its run.
  expect(statesOf([{ ...one, isSilent: true }, two, three])[0]).toEqual(others);
});

test("the newest run without an end is under way, and counts until its lease has ended", () => {
  const runs = told.runs.slice(0, 2);
  const { runs: open, serverMs } = timelineOf({ ...told, runs });
  expect(open.at(-1)).toMatchObject({ isOpen: true, isLost: false, until: told.now });
  const ended = runs.with(1, { ...(runs[1] as RunFacts), leaseEndedAt: 11_100 + hour });
  const late = timelineOf({ ...told, runs: ended });
  expect(late.runs.at(-1)).toMatchObject({ isOpen: true, until: 11_100 + hour });
  expect(serverMs - late.serverMs).toBe(told.now - (11_100 + hour));
});

test("an entry is new in the run that wrote it, replayed in later ones, and unknown to earlier ones", () => {
  const { rows, runs } = timelineOf(told);
  const gutter = rows.map((row) => runs.map((run) => inRun(row, run)));
  expect(gutter).toEqual([
    ["new", "replayed", "replayed"],
    [undefined, "new", "replayed"],
    [undefined, "new", "replayed"],
    [undefined, undefined, "new"],
    [undefined, undefined, undefined],
  ]);
});

test("a run that failed without a record is not said to have replayed anything", () => {
  const [one] = told.runs as [RunFacts];
  const failed = { epoch: 2, worker: "b", beganAt: 9000, endedAt: 9006, how: "failed" } as const;
  const { rows, runs } = timelineOf({
    ...told,
    entries: told.entries.slice(0, 1),
    runs: [one, failed],
  });
  expect(runs.map((run) => rows[0] && inRun(rows[0], run))).toEqual(["new", undefined]);
  expect(runs.map(isUnknown)).toEqual([false, true]);
});

test("the axis leaves room for short pieces beside long ones", () => {
  const { runs, from, to } = timelineOf(told);
  const pieces = piecesOf(runs, from, to, 700);
  expect(pieces.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(700);
  // A run of a second beside an hour of waiting.
  expect(Math.min(...pieces.map(({ width }) => width))).toBeGreaterThan(40);
  expect(pieces.filter(({ isServer }) => isServer)).toHaveLength(3);
});

test("later moments are further right, and moments outside are at the ends", () => {
  const { runs, from, to } = timelineOf(told);
  const pieces = piecesOf(runs, from, to, 700);
  const places = [-5, 0, 1000, hour, 1500 + hour, 40_000 + hour, to, to + 5].map((at) =>
    placeOf(pieces, at),
  );
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places[0]).toBe(0);
  expect(places.at(-1)).toBeCloseTo(700);
});

test("a task without runs and entries has an axis", () => {
  const bare = timelineOf({ ...told, entries: [], runs: [], waits: [] });
  expect(bare.rows).toEqual([]);
  expect(piecesOf(bare.runs, bare.from, bare.to, 100)).toHaveLength(1);
});

test("a wait that began after the page's last look at the clock has lasted for no time, at the right end", () => {
  const since = told.now + 500;
  const { rows, to } = timelineOf({
    ...told,
    waits: [{ key: "pay", kind: "approval", since }],
  });
  expect(rows.at(-1)).toMatchObject({ key: "pay", from: since, to: since });
  expect(to).toBe(since);
});

test("a step with an undo is one row from its beginning to its end, with the undo", () => {
  const begun = { seq: 0, kind: "begun", key: "hold", epoch: 1, at: 500, bytes: 1, undo: "free" };
  const ended = { seq: 1, kind: "step", key: "hold", epoch: 1, at: 900, ms: 400, bytes: 1 };
  const open = timelineOf({ ...told, entries: [begun], waits: [] });
  expect(open.rows).toMatchObject([{ key: "hold", what: "step begun", lane: "mark" }]);
  for (const kind of ["step", "threw"]) {
    const { rows } = timelineOf({ ...told, entries: [begun, { ...ended, kind }], waits: [] });
    expect(rows).toMatchObject([{ key: "hold", lane: "server", entry: { seq: 1, undo: "free" } }]);
  }
});

test("what has no known length is a mark: an answer from before the task, and an undo", () => {
  const entries = [
    { seq: 0, kind: "answer", key: "how", epoch: 0, at: 100, bytes: 1 },
    { seq: 1, kind: "step", key: "read", epoch: 0, at: 100, ms: 40, bytes: 1 },
    { seq: 2, kind: "undone", key: "read", epoch: 1, at: 900, bytes: 1 },
  ] as const;
  const { rows } = timelineOf({ ...told, entries, waits: [] });
  expect(rows.map(({ key, lane }) => [key, lane])).toEqual([
    ["how", "mark"],
    ["read", "server"],
    ["read · undo", "mark"],
  ]);
});

test("keys that the engine made up are shown as what they are", () => {
  const entries = [
    { seq: 0, kind: "background", key: "~background-1", bytes: 1 },
    { seq: 1, kind: "step", key: "pay~aside", bytes: 1 },
    { seq: 2, kind: "step", key: "pay", bytes: 1 },
  ] as const;
  const { rows } = timelineOf({ ...told, entries, waits: [] });
  expect(rows.map(({ key }) => key)).toEqual(["went to the background", "pay · notify", "pay"]);
});
