// An intruder can write to the database but has no key. The test moves every column of every table between the rows of
// two users, of two tools and of two tasks. No user may see another user's data, and no tool may run with another
// tool's arguments. test/wire/moved-records.test.ts shows what exactly happens in each case.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { isFull } from "./measure.ts";
import { accept, callTool, envelope, exchange, tokenIn } from "../wire/post.ts";
import type { Answer, Leg } from "../wire/post.ts";

const capabilities = {
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

const verifier = {
  verifyAccessToken: async (token: string) => ({
    token,
    clientId: "app",
    scopes: [],
    expiresAt: 4_000_000_000,
    extra: { sub: token },
  }),
};

/** An app whose tools get a secret from their caller. They record a run for another caller, or as another tool. */
async function opened() {
  const folder = mkdtempSync(join(tmpdir(), "parley-intruder-"));
  const path = join(folder, "tasks.db");
  const store = sqliteStore(path);
  const crossed: string[] = [];
  const app = parley({
    name: "vault",
    version: "1.0.0",
    keys,
    logger: quiet,
    store,
    auth: { verifier },
    principal: ({ extra }: AuthInfo) => String(extra?.["sub"]),
  });
  const inputSchema = z.object({ secret: z.string() });
  const mind = (tool: string, secret: string, principal: string | undefined) => {
    if (secret !== `${tool} of ${principal}`)
      crossed.push(`${tool} ran for ${principal}: ${secret}`);
  };
  for (const tool of ["open", "shut"]) {
    app.tool(tool, { inputSchema, task: "required" }, async ({ secret }, ctx) => {
      mind(tool, secret, ctx.principal);
      await ctx.background();
      const kept = await ctx.step("keep", () => secret);
      mind(tool, kept, ctx.principal);
      const isSure = await ctx.confirm("sure", `Sure about ${secret}?`);
      mind(tool, secret, ctx.principal);
      return `${secret}, ${isSure}`;
    });
    app.tool(`${tool}-large`, { inputSchema }, async ({ secret }, ctx) => {
      const kept = await ctx.step("keep", () => secret + "x".repeat(40_000));
      await ctx.confirm("sure", "Sure?");
      mind(tool, kept.replaceAll("x", ""), ctx.principal);
      return kept.replaceAll("x", "");
    });
    app.tool(`${tool}-once`, { inputSchema, once: true }, async ({ secret }, ctx) => {
      await ctx.confirm("sure", "Sure?");
      const kept = await ctx.step("keep", () => secret);
      mind(tool, kept, ctx.principal);
      return kept;
    });
  }
  const database = (await loadDriver())(path);
  onTestFinished(async () => {
    database.close();
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const as = (user: string) => ({ capabilities, headers: { authorization: `Bearer ${user}` } });
  const secretOf = (user: string, tool: string) => `${tool.split("-")[0]} of ${user}`;
  const call = (user: string, tool: string, leg: Leg = {}) =>
    callTool(app, tool, { secret: secretOf(user, tool) }, { ...as(user), ...leg });
  const about = (user: string, method: string, taskId: string, more: object = {}) =>
    exchange(app, envelope(method, { taskId, ...more }, { capabilities }), as(user));
  await app.work();
  database.exec("pragma busy_timeout = 30000");
  return { app, database, crossed, call, about };
}

const sure = { inputResponses: { sure: accept({ sure: true }) } };

/** What a response says, without what the caller knows anyway. */
const said = ({ result, error }: Answer): string => JSON.stringify(result ?? error);

/** The columns of a task that are moved in every run. `npm run test:attack` moves each of them. */
const telling = new Set(["id", "call_id", "tool", "principal", "input", "waits"]);

/** Who owns two rows, and through which tool they were made. */
const pairs: readonly (readonly [string, readonly [string, string], readonly [string, string]])[] =
  [
    ["users", ["ada", "open"], ["eve", "open"]],
    ["tools", ["ada", "open"], ["ada", "shut"]],
  ];

const others = (user: string, tool: string): readonly string[] =>
  ["open of ada", "shut of ada", "open of eve", "shut of eve"].filter(
    (secret) => secret !== `${tool} of ${user}`,
  );

type Opened = Awaited<ReturnType<typeof opened>>;

const columnsOf = ({ database }: Opened, table: string): readonly string[] =>
  database
    .prepare(`pragma table_info(${table})`)
    .all()
    .map(({ name }) => String(name));

/** Swaps these columns of two rows. */
function swap(
  { database }: Opened,
  table: string,
  columns: readonly string[],
  [one, other]: readonly [string, string],
): void {
  const values = (where: string) =>
    database.prepare(`select * from ${table} where ${where}`).all()[0];
  const rows = [values(one), values(other)] as const;
  database.exec("pragma foreign_keys = off");
  // A column may be unique, so both rows are taken out first.
  for (const where of [one, other]) database.prepare(`delete from ${table} where ${where}`).run();
  for (const [own, foreign] of [rows, [rows[1], rows[0]] as const]) {
    const row = { ...own, ...Object.fromEntries(columns.map((name) => [name, foreign?.[name]])) };
    const names = Object.keys(row);
    database
      .prepare(`insert into ${table} (${names.join()}) values (${names.map(() => "?").join()})`)
      .run(...(Object.values(row) as never[]));
  }
}

describe.each(pairs)("between two %s", (_, one, other) => {
  test("no column of a task can be moved", async () => {
    const here = await opened();
    const { crossed, call, about } = here;
    const parked = async ([user, tool]: readonly [string, string]) => {
      const id = String((await call(user, tool)).result?.["taskId"]);
      await vi.waitUntil(
        async () => (await about(user, "tasks/get", id)).result?.["status"] === "input_required",
        patience,
      );
      return id;
    };
    const columns = columnsOf(here, "tasks");
    const moves = [
      ...columns.filter((column) => isFull || telling.has(column)).map((column) => [column]),
      columns.filter((column) => column !== "id"),
      columns.filter((column) => column !== "id" && column !== "principal"),
      columns.filter((column) => column !== "id" && column !== "tool"),
    ];
    for (const moved of moves) {
      const ids = [await parked(one), await parked(other)] as const;
      swap(here, "tasks", moved, [`id = '${ids[0]}'`, `id = '${ids[1]}'`]);
      await read(here, one, other, ids);
    }
    expect(crossed).toEqual([]);
  });

  test("no record of a log, and no log as a whole, can be moved", async () => {
    const here = await opened();
    const { crossed, call, about } = here;
    for (const isWhole of [false, true]) {
      const ids: string[] = [];
      for (const [user, tool] of [one, other]) {
        const id = String((await call(user, tool)).result?.["taskId"]);
        await vi.waitUntil(
          async () => (await about(user, "tasks/get", id)).result?.["status"] === "input_required",
          patience,
        );
        ids.push(id);
      }
      const [first = "", second = ""] = ids;
      const { length } = here.database
        .prepare("select 1 from task_log where task_id = ?")
        .all(first);
      for (let seq = 0; seq < (isWhole ? length : 1); seq += 1) {
        const where = (id: string) => `task_id = '${id}' and seq = ${seq}`;
        swap(here, "task_log", ["record"], [where(first), where(second)]);
      }
      await read(here, one, other, [first, second]);
    }
    expect(crossed).toEqual([]);
  });

  test.each([
    ["spills", "large"],
    ["rounds", "once"],
  ])("no column of %s can be moved", async (table, kind) => {
    const here = await opened();
    const { crossed, call } = here;
    const columns = columnsOf(here, table);
    for (const moved of [...columns.map((column) => [column]), columns]) {
      here.database.exec(`delete from ${table}`);
      const legs: Leg[] = [];
      const keysOf: string[] = [];
      for (const [user, tool] of [one, other]) {
        const leg = { requestState: tokenIn(await call(user, `${tool}-${kind}`)), ...sure };
        // A round is stored when it has run.
        if (table === "rounds") await call(user, `${tool}-${kind}`, leg);
        legs.push(leg);
        const key = String(columns[0]);
        const known = keysOf.map((text) => `'${text}'`).join() || "''";
        const [row] = here.database
          .prepare(`select ${key} from ${table} where ${key} not in (${known})`)
          .all();
        keysOf.push(String(row?.[key]));
      }
      const where = (at: number) => `${columns[0]} = '${keysOf[at]}'`;
      swap(here, table, moved, [where(0), where(1)]);
      for (const [at, [user, tool]] of [one, other].entries()) {
        const text = said(await call(user, `${tool}-${kind}`, legs[at]));
        for (const secret of others(user, tool)) expect(text).not.toContain(secret);
      }
    }
    expect(crossed).toEqual([]);
  });
});

/** Both users look at both tasks, answer them, and look again. Neither may see the arguments of another tool or user. */
async function read(
  { database, about }: Opened,
  one: readonly [string, string],
  other: readonly [string, string],
  ids: readonly [string, string],
): Promise<void> {
  for (const round of ["before", "after"]) {
    for (const [own, [user, tool]] of [one, other].entries()) {
      for (const [at, id] of ids.entries()) {
        const text = said(await about(user, "tasks/get", id));
        // Both tasks may be the same user's.
        const isOther = at !== own && one[0] === other[0];
        for (const secret of isOther ? [] : others(user, tool)) expect(text).not.toContain(secret);
        if (round === "before") await about(user, "tasks/update", id, sure);
      }
    }
    if (round === "after") break;
    // A worker looks at them, whatever due times the intruder has set. It puts off what it cannot open.
    database
      .prepare("update tasks set due_at = 1, worker = null where id in (?, ?) and result is null")
      .run(...ids);
    const unseen = database.prepare(
      "select 1 from tasks where id in (?, ?) and result is null and (due_at = 1 or worker is not null)",
    );
    await vi.waitUntil(() => unseen.all(...ids).length === 0, patience);
  }
}
