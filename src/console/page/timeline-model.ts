// What the timeline and its table show: one row for each entry of the log and for each thing that the task waits for.

import type { AuditFacts, EntryFacts, RunFacts, WaitFacts } from "../wire.ts";
import { knownRuns } from "./timeline-scale.ts";
import type { KnownRun } from "./timeline-scale.ts";

/** Whose time passes: the server's, a person's, or the clock's. A mark takes none. */
type Lane = "server" | "people" | "clock" | "mark";

export interface Row {
  /** Unique on the timeline. */
  readonly id: string;
  readonly lane: Lane;
  /** What it is, in a word: "step", "question", "sleep". */
  readonly what: string;
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** Whether it is not over. */
  readonly isOpen: boolean;
  /** Whether it failed. */
  readonly isBad: boolean;
  /** The run that recorded it. */
  readonly epoch: number | undefined;
  readonly entry?: EntryFacts;
  readonly wait?: WaitFacts;
}

export interface Timeline {
  readonly rows: readonly Row[];
  readonly runs: readonly KnownRun[];
  readonly from: number;
  readonly to: number;
  /** How long runs are known to have been under way. */
  readonly serverMs: number;
  /** How long the task waited for people. */
  readonly peopleMs: number;
  /** How long after their last records runs were taken over. Nobody knows for how much of it their workers went on. */
  readonly lostMs: number;
  /** How long the task waited otherwise: for a timer, or for a worker. */
  readonly otherMs: number;
  /** Whether some of that may have been people's time. */
  readonly isMixed: boolean;
}

/** What a log and its runs tell. */
export interface Told {
  readonly entries: readonly EntryFacts[];
  readonly runs: readonly RunFacts[];
  readonly waits: readonly WaitFacts[];
  /** What the audit knows of the call, the oldest first. */
  readonly audit?: readonly AuditFacts[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Whether it has ended. */
  readonly isOver: boolean;
  readonly now: number;
}

export function timelineOf(told: Told): Timeline {
  const { entries, createdAt, isOver, now } = told;
  const records = new Map<number, number>();
  for (const { epoch, at } of entries) {
    if (epoch !== undefined && at !== undefined) {
      records.set(epoch, Math.max(at, records.get(epoch) ?? 0));
    }
  }
  const runs = knownRuns(told.runs, records, now);
  const asked = told.audit?.filter(({ action }) => action === "asked") ?? [];
  const rows: Row[] = [];
  let last = createdAt;
  for (const entry of entries) {
    const isFirst = entry.kind === "version" && !rows.some((one) => one.entry?.kind === "version");
    const row = rowOf(entry, last, runs, asked, isFirst);
    const begun = kindOf(entry) === "step" ? rows.findIndex((one) => isBegun(one, row)) : -1;
    // That the step began is of interest only until it has ended. Its undo was recorded then.
    const [{ entry: first } = row] = begun === -1 ? [] : rows.splice(begun, 1);
    rows.push(first?.undo === undefined ? row : { ...row, entry: { ...entry, undo: first.undo } });
    // A new worker notes its version before it takes in what has arrived. What was waited for has lasted until then.
    if (row.lane !== "mark") last = Math.max(last, row.to);
  }
  for (const wait of told.waits) {
    const since = wait.since ?? last;
    rows.push({
      id: `w-${wait.kind}-${wait.key}`,
      lane: wait.kind === "timer" ? "clock" : "people",
      what: waitWords[wait.kind],
      key: wait.key,
      from: since,
      // The clock of the page moves on in steps, so it can be behind a wait that has just begun.
      to: Math.max(now, since),
      isOpen: true,
      isBad: false,
      epoch: undefined,
      wait,
    });
  }
  const ended = Math.max(told.updatedAt, last, ...runs.map(({ until }) => until));
  if (isOver) rows.push(...unanswered(asked, entries, ended));
  const to = Math.max(isOver ? ended : now, ended, ...rows.map((row) => row.to));
  const served = runs.map((run): Span => [run.beganAt, run.until]);
  const waited = rows.flatMap((row): Span[] => (row.lane === "people" ? [[row.from, row.to]] : []));
  // A run can go on while a person thinks: that time is the server's.
  const lost = runs.flatMap(({ isLost, until, endedAt }, index): Span[] => {
    const takenAt = runs[index + 1]?.beganAt ?? endedAt;
    return isLost && takenAt !== undefined ? [[until, takenAt]] : [];
  });
  const serverMs = covered(served);
  const peopleMs = covered([...served, ...waited]) - serverMs;
  const lostMs = covered([...served, ...waited, ...lost]) - serverMs - peopleMs;
  const otherMs = Math.max(0, to - createdAt - serverMs - peopleMs - lostMs);
  const isCutShort = isOver && runs.at(-1)?.how === "parked" && rows.at(-1)?.to !== ended;
  const isMixed = isCutShort || entries.some(({ kind }) => kind === undefined);
  return { rows, runs, from: createdAt, to, serverMs, peopleMs, lostMs, otherMs, isMixed };
}

/** What was asked, and had no answer when the task was cancelled or its time was up. */
function unanswered(
  asked: readonly AuditFacts[],
  entries: readonly EntryFacts[],
  ended: number,
): readonly Row[] {
  const known = new Set(entries.map(({ key }) => key));
  const first = new Map(asked.toReversed().map((one) => [one.key ?? "", one]));
  return [...first.values()].toReversed().flatMap(({ id, key = "", at, group }): Row[] => {
    if (known.has(key)) return [];
    const wait = { kind: "wait", key, ...(group === undefined ? undefined : { group }) } as const;
    const [from, to, epoch] = [Math.min(at, ended), ended, undefined];
    const what = "not answered";
    return [
      {
        id: `a-${id}`,
        lane: "people",
        what,
        key,
        from,
        to,
        isOpen: false,
        isBad: false,
        epoch,
        wait,
      },
    ];
  });
}

const waitWords: Readonly<Record<WaitFacts["kind"], string>> = {
  approval: "approval",
  wait: "wait",
  question: "question",
  timer: "sleep",
};

const kinds: Readonly<Record<string, readonly [Lane, string]>> = {
  answer: ["people", "answer"],
  expired: ["people", "expired"],
  step: ["server", "step"],
  threw: ["server", "step failed"],
  undone: ["server", "undo"],
  undo_failed: ["server", "undo failed"],
  timer: ["clock", "sleep"],
  begun: ["mark", "step begun"],
  background: ["mark", "background"],
  checkpoint: ["mark", "checkpoint"],
  changed: ["mark", "code changed"],
  patched: ["mark", "patched"],
  version: ["mark", "version"],
  cut: ["mark", "undoing begins"],
};

/** Whether a step ended, one way or the other. */
const kindOf = ({ kind }: EntryFacts) => (kind === "threw" ? "step" : kind);

/** Whether a row says that this step began. */
const isBegun = (one: Row, { key }: Row): boolean => one.entry?.kind === "begun" && one.key === key;

function rowOf(
  entry: EntryFacts,
  last: number,
  runs: readonly KnownRun[],
  asked: readonly AuditFacts[],
  isFirst: boolean,
): Row {
  const { kind, at = last, ms } = entry;
  const [usual, what] = kinds[kind ?? ""] ?? (["mark", kind ?? "entry"] as const);
  // What came before the task began, and an undo, have no length that is known.
  const isPoint = ms === undefined && (entry.epoch === 0 || usual === "server");
  const lane = isPoint ? "mark" : usual;
  const isWait = lane === "people" || lane === "clock";
  // The task has waited since the run before let go of it.
  const parked = runs.findLast((run) => !run.isOpen && !run.isLost && run.until <= at)?.until;
  const since =
    lane === "people" ? asked.find((one) => one.key === entry.key && one.at <= at)?.at : undefined;
  const begun = isWait ? (since ?? Math.max(last, parked ?? last)) : at;
  return {
    id: `e-${entry.seq}`,
    lane,
    what,
    key: nameOf(entry, what, isFirst),
    from: Math.min(at, entry.ms === undefined ? begun : at - entry.ms),
    to: at,
    isOpen: false,
    isBad: kind === "threw" || kind === "expired" || entry.error !== undefined,
    epoch: entry.epoch,
    entry,
  };
}

/** The key as its author knows it. The engine marks its own keys with a tilde. */
function nameOf({ kind, key }: EntryFacts, what: string, isFirst: boolean): string {
  if (kind === "version") return `version ${key} ${isFirst ? "began" : "took over"}`;
  if (kind === "background") return "went to the background";
  if (!key || key.startsWith("~")) return what;
  if (what.startsWith("undo")) return `${key} · ${what}`;
  return key.replace(/~aside$/, " · notify");
}

/** Whether it is not known what the run replayed: it failed without a record, and may not have come as far as the log. */
export const isUnknown = ({ how, recordedAt }: Pick<KnownRun, "how" | "recordedAt">): boolean =>
  how === "failed" && recordedAt === undefined;

/** Whether the row was new in a run, replayed in it, or not known to it. */
export function inRun(
  row: Row,
  run: Pick<KnownRun, "epoch" | "how" | "recordedAt">,
): "new" | "replayed" | undefined {
  if (row.entry === undefined || row.epoch === undefined) return undefined;
  if (row.epoch === run.epoch) return "new";
  return row.epoch < run.epoch && !isUnknown(run) ? "replayed" : undefined;
}

type Span = readonly [from: number, to: number];

/** How much time the spans cover together. */
function covered(spans: readonly Span[]): number {
  let total = 0;
  let reached = -Infinity;
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    total += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return total;
}
