// The history of tasks: the runs that have ended, and what operators read. A list takes as long with 100,000 tasks as with
// 1,000: it visits the kinds that there are (a tool and a status, or a tool and a group), and reads one page of each.
// Beside these pages it reads the tasks that workers hold.

import type {
  LoggedRecord,
  OpenWait,
  TaskListing,
  TaskQuery,
  WaitingQuery,
} from "../../task-reader.ts";
import { mostRuns } from "../../task-runs.ts";
import type { EndedRun, TaskRun } from "../../task-runs.ts";
import type { Status, TaskRecord } from "../../task.ts";
import { listedColumnNames } from "../columns.ts";
import { keptRun, listingOf, loggedOf, openWaitOf, runsIn } from "../reader-rows.ts";
import type { ListingRow, LoggedRow, OpenWaitRow, RunsRow } from "../reader-rows.ts";
import { isText } from "./driver.ts";
import type { SqliteDatabase, SqliteRow } from "./driver.ts";

const columns = listedColumnNames.join(", ");
const newest = "order by created_at desc, id desc limit ?3";
const before = "(created_at, id) < (?1, ?2)";
/** The tasks that workers hold. There are no more of them than workers run at once, so they are not read in order. */
const held = "tasks indexed by tasks_held where worker > ''";
/** Each run begins with a comma, so that one can be added to any text. */
const asArray = "'[' || substr(runs, 2) || ']'";
const waitColumns = "task_id, wire, key, kind, tool, group_name, since";
/** The same of a task that waits for one thing only. */
const oneWire = "json_extract(waits, '$[0].wire')";
const oneWait = `id as task_id, ${oneWire} as wire, json_extract(waits, '$[0].key') as key,
      json_extract(waits, '$[0].kind') as kind, tool, wait_group as group_name, wait_since as since`;

type HistoryStatement =
  | ("findAll" | "findOwn" | "findKind" | "nextTool")
  | ("overdue" | "nextDueTool" | "fruitless")
  | ("nextOneWaitKind" | "nextWaitKind" | "waiting" | "waitsOf")
  | ("log" | "runs" | "moveRuns" | "clearRuns" | "dropRuns");

/** The SQL of what operators read. */
export const historyStatements: Readonly<Record<HistoryStatement, string>> = {
  findAll: `select ${columns} from tasks where rest is null and ${before} ${newest}`,
  findOwn: `select ${columns} from tasks
    where rest is null and principal = ?4 and (?5 is null or status = ?5) and (?6 is null or tool = ?6)
      and ${before} ${newest}`,
  nextTool: `select min(tool) as tool from (
    select * from (select tool from tasks where worker is null and rest is null and tool > ?1 order by tool limit 1)
    union all select tool from ${held} and tool > ?1)`,
  /** A task that a worker holds is in another index. One statement reads one snapshot, so that no task is missing from both. */
  findKind: `select * from (select ${columns} from tasks
    where worker is null and rest is null and tool = ?4 and status = ?5 and ${before} ${newest})
    union all select ${columns} from ${held}
      and rest is null and tool = ?4 and status = ?5 and ${before}`,
  overdue: `select ${columns} from tasks
    where tool = ?1 and due_at <= ?2 and (status in ('working', 'input_required') or undos > 0)
      and (?4 is null or status = ?4) and (?5 is null or principal = ?5)
    order by due_at, id limit ?3`,
  nextDueTool: "select tool from tasks where due_at is not null and tool > ? order by tool limit 1",
  fruitless: `select ${columns} from tasks
    where fruitless > 1 and due_at is not null and (?2 is null or status = ?2)
      and (?3 is null or tool = ?3) and (?4 is null or principal = ?4)
    order by due_at, id limit ?1`,
  nextOneWaitKind: `select tool, wait_group as group_name from tasks
    where wait_since is not null and (tool, wait_group) > (?, ?) order by tool, wait_group limit 1`,
  nextWaitKind: `select tool, group_name from task_waits
    where (tool, group_name) > (?, ?) order by tool, group_name limit 1`,
  /** One statement reads one snapshot, so that no wait is missing from both places. */
  waiting: `select * from (select ${oneWait} from tasks
    where wait_since is not null and tool = ?1 and wait_group = ?2
      and (wait_since, id) >= (?3, ?4) and (wait_since, id, ${oneWire}) > (?3, ?4, ?5)
    order by wait_since, id limit ?6)
    union all select * from (select ${waitColumns} from task_waits
    where tool = ?1 and group_name = ?2 and (since, task_id, wire) > (?3, ?4, ?5)
    order by since, task_id, wire limit ?6)`,
  waitsOf: `select * from (select ${oneWait} from tasks where id = ?1 and wait_since is not null
    union all select ${waitColumns} from task_waits where task_id = ?1)
    where (since, wire) > (?2, ?3) order by since, wire limit ?4`,
  log: `select seq, record, epoch, at, ms, tries from task_log
    where task_id = ? and seq >= ? order by seq limit ?`,
  runs: `select ${asArray} as runs, null as created_at, null as epoch, null as worker, null as began_at
    from task_runs where task_id = ?1
    union all
    select ${asArray}, created_at, epoch, worker, claimed_at from tasks where id = ?1`,
  moveRuns: `insert or ignore into task_runs (task_id, epoch, runs)
    select id, ?2, runs from tasks where id = ?1`,
  clearRuns: "update tasks set runs = '' where id = ?",
  dropRuns: "delete from task_runs where task_id = ? and epoch <= ?",
};

const statuses: readonly Status[] = [
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
];

/** The waits that a list of them reads together. */
interface WaitKind {
  readonly tool: string;
  readonly group: string;
}

/** The tables of runs and waits, and what is read for operators. */
export class HistoryTable {
  readonly #do;

  constructor({ prepare }: SqliteDatabase) {
    const all = Object.entries(historyStatements).map(([name, sql]) => [name, prepare(sql)]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every name is set
    this.#do = Object.fromEntries(all) as Record<HistoryStatement, ReturnType<typeof prepare>>;
  }

  /**
   * What the row of a task gains when a run has ended, which is written with the rest of the row. Every tenth run moves those
   * before it out of the row, because the whole row is written with every change.
   */
  ended({ id, createdAt }: TaskRecord, run: EndedRun | undefined): string {
    if (run === undefined) return "";
    const { epoch } = run;
    if (epoch % 10 === 0) {
      this.#do.moveRuns.run(id, epoch);
      this.#do.clearRuns.run(id);
      this.#do.dropRuns.run(id, epoch - mostRuns);
    }
    return `,${keptRun(run, createdAt)}`;
  }

  readonly find = (query: TaskQuery, now: number): readonly TaskListing[] => {
    const { status, tool, principal = null, stuckMs, after, limit } = query;
    const page = [after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? "", limit];
    if (stuckMs !== undefined) return this.#stuck(query, now - stuckMs);
    if (principal !== null) {
      return listings(this.#do.findOwn.all(...page, principal, status ?? null, tool ?? null));
    }
    if (status === undefined && tool === undefined) return listings(this.#do.findAll.all(...page));
    const tools = tool === undefined ? this.#named("nextTool") : [tool];
    const kinds = status === undefined ? statuses : [status];
    return tools
      .flatMap((name) => kinds.flatMap((kind) => this.#do.findKind.all(...page, name, kind)))
      .map(listingIn)
      .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  };

  #stuck({ status, tool, principal, limit }: TaskQuery, by: number): readonly TaskListing[] {
    const [kind, who] = [status ?? null, principal ?? null];
    const tools = tool === undefined ? this.#named("nextDueTool") : [tool];
    const rows = [
      ...tools.flatMap((name) => this.#do.overdue.all(name, by, limit, kind, who)),
      ...this.#do.fruitless.all(limit, kind, tool ?? null, who),
    ];
    return [...new Map(listings(rows).map((one) => [one.id, one])).values()]
      .toSorted((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0) || (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  /** The tools that there are, each found by one look into the index. */
  #named(statement: "nextTool" | "nextDueTool"): readonly string[] {
    const found: string[] = [];
    for (;;) {
      const tool = this.#do[statement].all(found.at(-1) ?? "")[0]?.["tool"];
      if (typeof tool !== "string") return found;
      found.push(tool);
    }
  }

  readonly waiting = (query: WaitingQuery): readonly OpenWait[] => {
    const { groups, tool, taskId, after, limit } = query;
    const { since = Number.MIN_SAFE_INTEGER, taskId: last = "", wire = "" } = after ?? {};
    if (taskId !== undefined) return waits(this.#do.waitsOf.all(taskId, since, wire, limit));
    const kinds = this.#waitKinds().filter(
      (kind) =>
        (tool === undefined || kind.tool === tool) &&
        (groups === undefined || groups.includes(kind.group)),
    );
    return kinds
      .flatMap((kind) =>
        waits(this.#do.waiting.all(kind.tool, kind.group, since, last, wire, limit)),
      )
      .toSorted(longestFirst)
      .slice(0, limit);
  };

  #waitKinds(): readonly WaitKind[] {
    const found = [...this.#kindsIn("nextOneWaitKind"), ...this.#kindsIn("nextWaitKind")];
    return [...new Map(found.map((kind) => [JSON.stringify(kind), kind])).values()];
  }

  /** The tools and groups that there are, each found by one look into the index. */
  #kindsIn(statement: "nextOneWaitKind" | "nextWaitKind"): readonly WaitKind[] {
    const found: WaitKind[] = [];
    for (;;) {
      const { tool, group } = found.at(-1) ?? { tool: "", group: "" };
      const [row] = this.#do[statement].all(tool, group);
      if (row === undefined) return found;
      found.push({ tool: String(row["tool"]), group: String(row["group_name"]) });
    }
  }

  readonly log = (id: string, from: number, limit: number): readonly LoggedRecord[] => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table is strict
    const rows = (isText(id) ? this.#do.log.all(id, from, limit) : []) as unknown as LoggedRow[];
    return rows.map(loggedOf);
  };

  readonly runs = (id: string): readonly TaskRun[] => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table is strict
    return runsIn((isText(id) ? this.#do.runs.all(id) : []) as unknown as RunsRow[]);
  };
}

const longestFirst = (a: OpenWait, b: OpenWait): number =>
  a.since - b.since || compare(a.taskId, b.taskId) || compare(a.wire, b.wire);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tables are strict
const listingIn = (row: SqliteRow): TaskListing => listingOf(row as unknown as ListingRow);
const listings = (rows: readonly SqliteRow[]): readonly TaskListing[] => rows.map(listingIn);
const waits = (rows: readonly SqliteRow[]): readonly OpenWait[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tables are strict
  rows.map((row) => openWaitOf(row as unknown as OpenWaitRow));
