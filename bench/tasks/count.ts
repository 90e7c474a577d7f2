// Counts statements where they leave the process: in the SQLite drivers and in the pool's connections.

import process from "node:process";
import Libsql from "libsql";
import type pg from "pg";

export class Count {
  readonly #byLabel = new Map<string, number>();

  readonly #ever = new Map<string, number>();

  readonly add = (label: string): void => {
    this.#byLabel.set(label, (this.#byLabel.get(label) ?? 0) + 1);
    this.#ever.set(label, (this.#ever.get(label) ?? 0) + 1);
  };

  /** Counted since the start; a reset does not change it. */
  readonly ever = (label: string): number => this.#ever.get(label) ?? 0;

  readonly total = (): number => [...this.#byLabel.values()].reduce((sum, each) => sum + each, 0);

  readonly all = (): ReadonlyMap<string, number> => new Map(this.#byLabel);

  readonly reset = (): void => this.#byLabel.clear();
}

type Method = (...args: unknown[]) => unknown;

/** Counts in both drivers, for all databases that are opened from now on. */
export function countSqlite(count: Count): void {
  const builtIn: { DatabaseSync?: { prototype: object } } | undefined =
    process.getBuiltinModule("node:sqlite");
  for (const driver of [Libsql, builtIn?.DatabaseSync]) {
    if (driver !== undefined) countOn(driver.prototype, count);
  }
}

function countOn(prototype: object, count: Count): void {
  wrap(prototype, "exec", ([sql]) => count.add(labelOf(String(sql))));
  wrap(prototype, "prepare", ([sql], statement) => {
    const label = labelOf(String(sql));
    for (const name of ["run", "all", "get"]) {
      wrap(Object(statement), name, () => count.add(label));
    }
  });
}

export function countPool(pool: pg.Pool, count: Count): void {
  pool.on("connect", (client) => {
    wrap(client, "query", ([first]) => {
      const { name, text = "" }: { name?: string; text?: string } =
        typeof first === "string" ? { text: first } : Object(first);
      // The store names statements parley_<operation>_<hash of the text>.
      count.add(name?.split("_")[1] ?? labelOf(text));
    });
  });
}

/** Calls back after each call of this method, with its arguments and its result. */
function wrap(one: object, name: string, look: (args: unknown[], result: unknown) => void): void {
  const method: Method = Reflect.get(one, name);
  Reflect.set(one, name, function counted(this: unknown, ...args: unknown[]) {
    const result = method.apply(this, args);
    look(args, result);
    return result;
  });
}

/** What a statement without a name is counted under. */
export const labelOf = (sql: string) =>
  sql.trim().replaceAll(/\s+/g, " ").slice(0, 56).toLowerCase();
