import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../test/postgres/database.ts";
import { program } from "../../../test/programs.ts";
import { PostgresStore } from "../../tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../tasks/stores/sqlite/sqlite-store.ts";

async function parley(
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const node = [...program("src/cli/main.ts"), ...args];
    return { code: 0, ...(await promisify(execFile)(process.execPath, node)) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

test("creates the tables in a file, and does nothing the second time", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-migrate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tasks.db");
  expect(await parley("migrate", file)).toMatchObject({
    code: 0,
    stdout: "The tables are up to date.\n",
  });
  expect(await parley("migrate", file)).toMatchObject({ code: 0 });
  expect(await parley("migrate", file, "--print")).toMatchObject({
    code: 0,
    stdout: "-- The tables are up to date.\n",
  });
  const store = new SqliteStore({ path: file });
  expect((await store.figures()).live).toBe(0);
  await store.close();
});

test("creates the tables in Postgres, and the output of --print creates the same ones", async () => {
  const { url, stop } = await freshDatabase();
  onTestFinished(stop);
  expect(await parley("migrate", url, "--schema", "made")).toMatchObject({ code: 0 });
  const made = new PostgresStore(url, { schema: "made" });
  onTestFinished(() => made.close());
  expect((await made.figures()).live).toBe(0);

  const { stdout: sql } = await parley("migrate", "postgres://", "--print", "--schema", "printed");
  const { default: pg } = await import("pg");
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(sql);
  const printed = new PostgresStore(url, { schema: "printed" });
  onTestFinished(() => printed.close());
  await printed.migrate();
  expect((await printed.figures()).live).toBe(0);
  // It is safe to apply it again.
  await client.query(sql);
});

test("says what is wrong, in one sentence", async () => {
  expect(await parley("migrate")).toMatchObject({ code: 2 });
  expect((await parley("migrate", "a.db", "--nonsense")).stderr).toContain(
    "migrate: Unknown option",
  );
  const refused = await parley("migrate", "postgres://postgres@127.0.0.1:1/x");
  expect(refused.code).toBe(1);
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
  expect((await parley("nonsense")).stderr).toContain(`unknown command "nonsense"`);
  expect((await parley("migrate", "--help")).stdout).toContain("--print");
});
