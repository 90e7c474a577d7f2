// The store of a test: in memory, or in what the project of the test run names (vitest.config.ts).

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "mcp-parley";
import type { Store } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import type { TaskStore } from "mcp-parley/store";
import pg from "pg";
import { onTestFinished } from "vitest";
import { freshDatabase } from "../postgres/database.ts";

const kind = process.env["PARLEY_TEST_STORE"] ?? "memory";
const database = kind === "postgres" ? await freshDatabase() : undefined;

/** An empty store, which is closed when the test has finished. */
export function testStore(): TaskStore {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every store of ours is one
  const store = opened() as TaskStore;
  onTestFinished(() => store.close());
  return store;
}

function opened(): Store {
  if (database !== undefined) {
    const { url } = database;
    onTestFinished(() => emptied(url));
    return postgresStore(url);
  }
  if (kind === "memory") return memoryStore();
  const folder = mkdtempSync(join(tmpdir(), "parley-pages-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return sqliteStore(join(folder, "tasks.db"));
}

/** Making the tables anew takes much longer than the tests do. */
async function emptied(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ tables: string | null }>(
      "select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables from pg_tables where schemaname = 'parley' and tablename <> 'migrations'",
    );
    const tables = rows[0]?.tables ?? null;
    if (tables !== null) await client.query(`truncate ${tables}`);
  } finally {
    await client.end();
  }
}
