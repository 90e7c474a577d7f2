// `parley migrate`: updates the tables of a store, or prints the SQL for it.

import { migrationSql as postgresSql } from "../../tasks/stores/postgres/postgres-migrations.ts";
import type { Command } from "../command.ts";
import { UsageError } from "../command.ts";
import { parseOptions } from "../args/command-line.ts";
import { storeAt } from "../tasks/store-tasks.ts";
import { checkStore, isPostgres, sqlFor } from "../tasks/migrations.ts";

/** `parley migrate` */
export const migrate: Command = {
  help: `Creates or updates the tables of a task store, or prints the SQL for it.

Usage
  parley migrate <postgres://… | file.db> [--schema NAME] [--print]

Servers migrate their store when they start, so you need this only if your
servers may not change tables. A migration only adds, so it is safe to run while
servers of this or the previous version are running, and safe to run twice. Run
it before you deploy the new version.

Options
  --schema NAME   Postgres: the schema of the tables (default: parley)
  --print         print the SQL instead of applying it: all of it for Postgres,
                  what the file lacks for SQLite

Examples
  parley migrate "$DATABASE_URL"
  parley migrate postgres:// --print > parley.sql
  parley migrate .parley/parley.db
  parley migrate tasks.db --print | sqlite3 -bail tasks.db

Exit codes
  0 done, 1 failed, 2 usage error
`,
  run: async (args, { out }) => {
    const { values, positionals } = parseOptions("migrate", args, {
      schema: { type: "string" },
      print: { type: "boolean" },
    });
    const [target, ...rest] = positionals;
    if (target === undefined || rest.length > 0) throw new UsageError("migrate: pass one store");
    const { schema } = values;
    checkStore(target);
    if (values.print === true) {
      return out(isPostgres(target) ? postgresSql(schema ?? "parley") : await sqlFor(target));
    }
    const store = storeAt(target, schema);
    try {
      await store.migrate();
    } finally {
      await store.close();
    }
    out(`The tables are up to date.\n`);
  },
};
