// `parley migrate`: brings a store's tables up to date, or prints what that would take.

import { migrationSql as postgresSql } from "../../tasks/stores/postgres/postgres-migrations.ts";
import { migrationSql as sqliteSql } from "../../tasks/stores/sqlite/sqlite-migrations.ts";
import type { Command } from "../command.ts";
import { Usage } from "../command.ts";
import { parsed } from "../args/parsed.ts";
import { storeAt } from "../tasks/in-store.ts";
import { isPostgres } from "../tasks/migrations.ts";

export const migrate: Command = {
  help: `parley migrate <postgres://… | file.db> [--schema NAME] [--print]

Brings the tables of a task store up to date. Servers do it by themselves when
they start, so this is for those whose servers may not change tables. It only
ever adds, so it is safe while servers run, also older ones, and doing it twice
does no harm. Run it before the new version is deployed.

  --schema NAME   Postgres: where the tables are (default: parley)
  --print         only print the SQL; connects to nothing

  parley migrate "$DATABASE_URL"
  parley migrate postgres:// --print > parley.sql
  parley migrate .parley/parley.db
`,
  run: async (args, { out }) => {
    const { values, positionals } = parsed("migrate", args, {
      schema: { type: "string" },
      print: { type: "boolean" },
    });
    const [target, ...rest] = positionals;
    if (target === undefined || rest.length > 0) throw new Usage("migrate: name one store");
    const { schema } = values;
    if (values.print === true) {
      return out(isPostgres(target) ? postgresSql(schema ?? "parley") : sqliteSql());
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
