// The audit in SQLite: its statements, and the operations made of them.

import type { AuditEntry, AuditStore } from "../../audit-store.ts";
import { isText } from "./driver.ts";
import type { SqliteDatabase, SqliteRow } from "./driver.ts";

/** The table of audit records. */
export class AuditTable {
  readonly #last;
  readonly #known;
  readonly #add;
  readonly #chain;
  readonly #after;
  readonly #old;
  readonly #delete;

  constructor({ prepare }: SqliteDatabase) {
    this.#last = prepare("select n, record from audit where chain = ? order by n desc limit 1");
    this.#known = prepare(
      "select id from audit where chain = ? and id in (select value from json_each(?))",
    );
    this.#add = prepare(
      "insert into audit (chain, n, id, app, at, record) values (?, ?, ?, ?, ?, ?)",
    );
    this.#chain = prepare(`select ${columns} from audit where chain = ? order by n`);
    this.#after = prepare(`select ${columns} from audit
      where (at, chain, n) > (?, ?, ?) order by at, chain, n limit ?`);
    // Most chains are short, so one look at the rest of each is cheap.
    this.#old = prepare(`select chain from audit as first where n = 1 and at <= ?1
      and not exists (select 1 from audit as later where later.chain = first.chain and later.at > ?1)
      order by at limit ?2`);
    this.#delete = prepare("delete from audit where chain in (select value from json_each(?))");
  }

  readonly last = (chain: string): SqliteRow | undefined =>
    isText(chain) ? this.#last.all(chain)[0] : undefined;

  readonly known = (chain: string, ids: readonly string[]): readonly string[] =>
    this.#known.all(chain, JSON.stringify(ids)).map(({ id }) => String(id));

  readonly add = ({ chain, n, id, app, at, record }: AuditEntry): void =>
    this.#add.run(chain, n, id, app, at, record);

  readonly chain = (chain: string): readonly AuditEntry[] =>
    isText(chain) ? this.#chain.all(chain).map(entryOf) : [];

  readonly after = (at: number, chain: string, n: number, limit: number): readonly AuditEntry[] =>
    this.#after.all(at, chain, n, limit).map(entryOf);

  readonly sweep = (cutOff: number, limit: number): number => {
    const chains = this.#old.all(cutOff, limit).map(({ chain }) => String(chain));
    if (chains.length > 0) this.#delete.run(JSON.stringify(chains));
    return chains.length;
  };
}

const columns = "chain, n, id, app, at, record";

const entryOf = (row: SqliteRow): AuditEntry => ({
  chain: String(row["chain"]),
  n: Number(row["n"]),
  id: String(row["id"]),
  app: String(row["app"]),
  at: Number(row["at"]),
  record: String(row["record"]),
});

/** How an operation of the audit runs on the file. */
interface AuditFile {
  readonly read: <T>(operation: (audit: AuditTable) => T) => Promise<T>;
  readonly write: <T>(operation: (audit: AuditTable) => T) => Promise<T>;
  readonly now: () => number;
}

/** The audit of a SQLite store. */
export function auditIn({ read, write, now }: AuditFile): AuditStore {
  return {
    tail: (chain, ids) =>
      read((audit) => {
        const last = audit.last(chain);
        if (last === undefined) return { n: 0, record: undefined, known: [] };
        const { n, record } = last;
        return { n: Number(n), record: String(record), known: audit.known(chain, ids) };
      }),
    append: (chain, after, records) =>
      write((audit) => {
        if (Number(audit.last(chain)?.["n"] ?? 0) !== after) return false;
        const ids = records.map(({ id }) => id);
        if (after > 0 && audit.known(chain, ids).length > 0) return false;
        const at = now();
        for (const [index, one] of records.entries()) {
          audit.add({ ...one, chain, at, n: after + 1 + index });
        }
        return true;
      }),
    readChain: (chain) => read((audit) => audit.chain(chain)),
    readAfter: (place, limit) =>
      read((audit) => audit.after(place?.at ?? -1, place?.chain ?? "", place?.n ?? 0, limit)),
    sweep: async (keepMs, limit) => {
      const cutOff = Math.floor(Math.max(-1, now() - keepMs));
      return write((audit) => audit.sweep(cutOff, limit));
    },
  };
}
