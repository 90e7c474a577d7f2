// The audit of a Postgres store.

import type { AuditEntry, AuditStore } from "../../audit-store.ts";
import type { Sealed } from "../../task.ts";
import type { Wide } from "../columns.ts";
import type { AuditStatement } from "./audit-statements.ts";
import type { PostgresDatabase } from "./database.ts";
import { isStorable, storable } from "./errors.ts";

type Row = Omit<AuditEntry, "n" | "at"> & { readonly n: number; readonly at: Wide };
type Tail = { readonly n: number; readonly record: Sealed; readonly known: readonly string[] };

/** The longest time that a sweep looks back, in milliseconds. It stands for "forever". */
const longest = 1e15;

/** The audit in this database. */
export function auditOn({ run }: Pick<PostgresDatabase<AuditStatement>, "run">): AuditStore {
  const entries = async (name: "auditChain" | "auditAfter", values: readonly unknown[]) =>
    (await run<Row>(name, values)).map((row) => ({ ...row, n: Number(row.n), at: Number(row.at) }));
  return {
    tail: async (chain, ids) => {
      const [row] = isStorable(chain)
        ? await run<Tail>("auditTail", [chain, ids.filter(isStorable)])
        : [];
      return row ?? { n: 0, record: undefined, known: [] };
    },
    append: async (chain, after, records) => {
      const columns = [
        records.map(({ id }) => storable(id)),
        records.map(({ app }) => storable(app)),
        records.map(({ record }) => record),
      ];
      const done = await run("auditAppend", [storable(chain), after, ...columns]);
      return done.length > 0;
    },
    readChain: async (chain) => (isStorable(chain) ? entries("auditChain", [chain]) : []),
    readAfter: (place, limit) =>
      entries("auditAfter", [place?.at ?? -1, place?.chain ?? "", place?.n ?? 0, limit]),
    sweep: async (keepMs, limit) => {
      const gone = await run<Pick<AuditEntry, "chain">>("auditSweep", [
        Math.ceil(Math.min(keepMs, longest)),
        limit,
      ]);
      return new Set(gone.map(({ chain }) => chain)).size;
    },
  };
}
