// What operators read, from Postgres.

import type { TaskReader } from "../../task-reader.ts";
import { listingOf, loggedOf, openWaitOf, runsIn } from "../reader-rows.ts";
import type { ListingRow, LoggedRow, OpenWaitRow, RunsRow } from "../reader-rows.ts";
import type { PostgresDatabase } from "./database.ts";
import { isStorable } from "./errors.ts";
import type { ReaderStatement } from "./reader-statements.ts";

/** Makes the reader. */
export function postgresReader(
  database: Pick<PostgresDatabase<ReaderStatement>, "run">,
): TaskReader {
  return {
    find: async ({ status, tool, principal, stuckMs, after, limit }) => {
      const wanted = [tool, principal, after?.id].every((text) => isStorable(text ?? ""));
      if (!wanted) return [];
      const page = [after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? "", limit];
      const [kind, of, who] = [status ?? null, tool ?? null, principal ?? null];
      const rows =
        stuckMs !== undefined
          ? database.run<ListingRow>("findStuck", [Math.ceil(stuckMs), limit, kind, of, who])
          : principal !== undefined
            ? database.run<ListingRow>("findOwn", [...page, who, kind, of])
            : status !== undefined || tool !== undefined
              ? database.run<ListingRow>("findKind", [...page, kind, of])
              : database.run<ListingRow>("findAll", page);
      return (await rows).map(listingOf);
    },

    waiting: async ({ groups, tool, taskId, after, limit }) => {
      if (!isStorable(tool ?? "") || !isStorable(taskId ?? "")) return [];
      const { since = Number.MIN_SAFE_INTEGER, taskId: last = "", wire = "" } = after ?? {};
      const rows =
        taskId === undefined
          ? database.run<OpenWaitRow>("waiting", [
              groups?.filter(isStorable) ?? null,
              tool ?? null,
              since,
              last,
              wire,
              limit,
            ])
          : database.run<OpenWaitRow>("waitsOf", [taskId, since, wire, limit]);
      return (await rows).map(openWaitOf);
    },

    log: async (id, from, limit) =>
      isStorable(id)
        ? (await database.run<LoggedRow>("history", [id, from, limit])).map(loggedOf)
        : [],

    runs: async (id) => (isStorable(id) ? runsIn(await database.run<RunsRow>("runs", [id])) : []),
  };
}
