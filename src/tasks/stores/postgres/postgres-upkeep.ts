// Deleting what is no longer needed, in transactions that stay short: each deletes up to a number of rows and bytes, and
// says whether there is more.

import type { SweepResult } from "../../store.ts";
import type { TaskRow, Wide } from "../columns.ts";
import type { PostgresDatabase } from "./database.ts";
import type { StatementName } from "./statements.ts";

/** The most that one transaction deletes, unless a single record is larger. */
const mostBytes = 64 * 1024 * 1024;

type Database = PostgresDatabase<StatementName>;
type Removable = { readonly id: string; readonly bytes: Wide };
type Rested = Pick<TaskRow, "id" | "rest">;

/** Does one part of a sweep, and passes on the ids of the tasks that it changed. */
export async function sweep(
  database: Database,
  sweeping: {
    readonly limit: number;
    readonly keepMs: number;
    readonly unreadMs: number | undefined;
    readonly undoMs: number;
  },
  changed: (ids: readonly string[]) => void,
): Promise<SweepResult> {
  const { limit, keepMs, unreadMs, undoMs } = sweeping;
  const forgotten = await database.run("forget", [limit, undoMs]);
  const expired = await layToRest(database, "expired", [limit, undoMs], keepMs);
  const abandoned =
    unreadMs === undefined || !Number.isFinite(unreadMs)
      ? { rested: [], isMore: false }
      : await layToRest(database, "abandoned", [limit, Math.ceil(unreadMs)], keepMs);
  const rested = [...expired.rested, ...abandoned.rested];
  changed(rested.map(({ id }) => id));
  // Most of these rows are small, and every round of every call may leave one, so more of them go at once.
  const spills = await forget(database, "expiredSpills", "forgetSpills", limit * 20);
  const rounds = await forget(database, "expiredRounds", "forgetRounds", limit * 20);
  await database.run("forgetWorkers", []);
  return {
    expired: rested.filter(({ rest }) => rest === "expired").length,
    removed: rested.filter(({ rest }) => rest === "removed").length,
    forgotten: forgotten.length,
    spills: spills.count,
    rounds: rounds.count,
    isMore:
      forgotten.length >= limit ||
      [expired, abandoned, spills, rounds].some(({ isMore }) => isMore),
  };
}

/** Deletes the contents of the oldest ended tasks of a caller. Resolves to their ids. */
export async function removeEnded(
  database: Database,
  principal: string,
  limit: number,
  keepMs: number,
): Promise<readonly string[]> {
  const { rested } = await layToRest(database, "ended", [principal, limit], keepMs);
  return rested.map(({ id }) => id);
}

function layToRest(
  database: Database,
  which: "expired" | "abandoned" | "ended",
  values: readonly unknown[],
  keepMs: number,
): Promise<{ readonly rested: readonly Rested[]; readonly isMore: boolean }> {
  return database.together(async (run) => {
    const found = await run<Removable>(which, values);
    const ids = withinBudget(found);
    if (ids.length === 0) return { rested: [], isMore: false };
    const rested = await run<Rested>("layToRest", [ids, keepMs]);
    return { rested, isMore: ids.length < found.length || found.length >= limitIn(values) };
  });
}

/** The limit is the first number among the values. */
const limitIn = (values: readonly unknown[]): number =>
  values.find((value) => typeof value === "number") ?? Infinity;

async function forget(
  database: Database,
  find: "expiredSpills" | "expiredRounds",
  remove: "forgetSpills" | "forgetRounds",
  limit: number,
): Promise<{ readonly count: number; readonly isMore: boolean }> {
  const found = await database.run<Removable>(find, [limit]);
  if (found.length === 0) return { count: 0, isMore: false };
  const ids = withinBudget(found);
  const gone = await database.run(remove, [ids]);
  // If others hold all of these rows, the next sweep deletes them.
  const isMore = gone.length > 0 && (ids.length < found.length || found.length >= limit);
  return { count: gone.length, isMore };
}

/** The ids of the rows that fit into one transaction. The first row always does. */
function withinBudget(rows: readonly Removable[]): readonly string[] {
  let left = mostBytes;
  const ids: string[] = [];
  for (const { id, bytes } of rows) {
    if (ids.length > 0 && Number(bytes) > left) break;
    left -= Number(bytes);
    ids.push(id);
  }
  return ids;
}
