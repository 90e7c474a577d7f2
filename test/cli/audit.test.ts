// `parley audit`: an auditor's question, its filters, and what it finds if someone has changed the store.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parley as app } from "mcp-parley";
import type { Store } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { openDatabase } from "../../src/tasks/stores/sqlite/open.ts";
import { newKey } from "../../src/token/keyring.ts";
import { quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { freshDatabase } from "../postgres/database.ts";
import { callTool, tokenIn } from "../wire/post.ts";
import { begun, until } from "../wire/task-calls.ts";
import { emptyFolder, parley, read, start } from "./run.ts";

const keys = newKey("audit");

interface Opened {
  readonly store: Store;
  readonly target: string;
  /** What someone does who can write to the database. */
  readonly tamper: (sql: string) => Promise<unknown>;
}

const stores: Record<string, () => Promise<Opened>> = {
  "a SQLite file": async () => {
    const target = join(emptyFolder(), "tasks.db");
    const tamper = async (sql: string) => {
      const database = await openDatabase(target);
      database.exec(sql);
      database.close();
    };
    return { store: sqliteStore(target), target, tamper };
  },
  Postgres: async () => {
    const { url: target, stop } = await freshDatabase();
    onTestFinished(stop);
    const tamper = async (sql: string) => {
      const client = new pg.Client(target);
      await client.connect();
      await client.query(`set search_path to parley; ${sql}`);
      await client.end();
    };
    return { store: postgresStore(target), target, tamper };
  },
};

/** A store with the records of two deployments, which two people approved, and of a plain question. */
async function recorded(open: () => Promise<Opened>) {
  const opened = await open();
  const { store } = opened;
  onTestFinished(() => store.close());
  const server = app({
    name: "deployer",
    version: "1.0.0",
    keys,
    logger: quiet,
    store,
    principal: () => "ada",
  });
  const tickets = new Map<number, string>();
  server.tool(
    "deploy",
    { inputSchema: z.object({ id: z.int() }), task: "required" },
    async ({ id }, ctx) => {
      await ctx.background();
      await ctx.approve("release", `Release deployment ${id}?`, {
        by: "managers",
        about: { Version: `2.${id}` },
        notify: ({ ticket }) => tickets.set(id, ticket),
      });
      return "released";
    },
  );
  server.tool("hello", {}, async (ctx) => `Hello, ${await ctx.ask("name", "Your name?")}!`);
  await server.work();
  onTestFinished(() => server.close());
  const authInfo = { token: "t", clientId: "c", scopes: [], extra: {} };
  const caller = (request: Request) => server.handle(request, { authInfo });
  for (const id of [16, 17]) {
    const task = await begun(caller, "deploy", { id });
    await vi.waitFor(() => expect(tickets.has(id)).toBe(true), patience);
    await vi.waitFor(async () => {
      const decision = { who: "bo", groups: ["managers"], approve: true, note: "looks good" };
      const { status } = await server.decide(tickets.get(id) ?? "", decision);
      expect(status).toBe("approved");
    }, patience);
    await until(caller, task, "completed");
  }
  const asked = await callTool(server, "hello", {});
  const inputResponses = { name: { action: "accept", content: { name: "Ada" } } };
  await callTool(server, "hello", {}, { requestState: tokenIn(asked), inputResponses });
  const cwd = emptyFolder();
  const runWith = (PARLEY_KEYS: string, ...args: string[]) =>
    parley(["audit", opened.target, ...args], { cwd, env: { PARLEY_KEYS } });
  const run = (...args: string[]) => runWith(keys, ...args);
  return { ...opened, run, runWith, cwd };
}

describe.each(Object.entries(stores))("in %s", (_name, open) => {
  test("one command says who approved deployment 17, when, how, and what they saw", async () => {
    const { run } = await recorded(open);
    const told = await run("--text", "deployment 17", "--action", "approved");
    expect(told).toMatchObject({ code: 0, stderr: "" });
    expect(told.stdout).toMatch(
      /^TIME +ACTION +WHO +VIA +TOOL +CALL +SHOWN\n20\S+Z  approved  bo +delivery  deploy  \w{32}  Release deployment 17\? · Version: 2\.17 · “looks good”\n$/,
    );
  });

  test("the record of the question says who decides, and how many are needed", async () => {
    const { run } = await recorded(open);
    const { stdout } = await run("--text", "deployment 17", "--action", "asked");
    expect(stdout).toContain(
      "  Release deployment 17? · group managers, 1 needed · Version: 2.17\n",
    );
  });

  test("filters, JSON and the check agree", async () => {
    const { run, tamper } = await recorded(open);
    const all = read((await run("--json")).stdout)["records"] as Record<string, string>[];
    expect(all.map(({ action, tool }) => `${tool} ${action}`)).toEqual([
      "deploy asked",
      "deploy approved",
      "deploy asked",
      "deploy approved",
      "hello asked",
      "hello answered",
    ]);
    const [first] = all;
    const count = async (...args: string[]) =>
      (read((await run("--json", ...args)).stdout)["records"] as unknown[]).length;
    expect(await count("--call", first?.["callId"] ?? "")).toBe(2);
    expect(await count("--call", (first?.["callId"] ?? "").slice(0, 12))).toBe(2);
    expect(await count("--task", first?.["taskId"] ?? "")).toBe(2);
    expect(await count("--tool", "hello", "--action", "asked,answered")).toBe(2);
    expect(await count("--who", "bo")).toBe(2);
    expect(await count("--since", "1h")).toBe(6);
    expect(await count("--until", "1h")).toBe(0);
    expect(await count("--since", "2000-01-01")).toBe(6);
    expect((await run("--who", "nobody")).stdout).toBe("There are no such records.\n");
    expect(await run("--check")).toMatchObject({
      code: 0,
      stdout: "Checked 6 records of 3 calls. Nothing is missing or was changed.\n",
    });
    await tamper("delete from audit where n = 2");
    expect(await run("--check")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("Record 2 is missing."),
    });
  });
});

test.each([
  ["delete from audit where n = 2", /^Call \w+: Record 2 is missing\.$/m],
  [
    "update audit set record = substr(record, 1, length(record) - 4) || 'AAAA' where n = 1",
    /^Call \w+: Record 1 was changed, or it belongs to another place\.$/m,
  ],
  [
    "update audit set n = 99 where n = 1; update audit set n = 1 where n = 2; update audit set n = 2 where n = 99",
    /^Call \w+: Record 2 was changed, or it belongs to another place\.$/m,
  ],
  [
    "delete from audit where n > 1",
    /^Call \w+: Its task has ended, but its record has no end\. What was recorded last was cut off/m,
  ],
])("someone who can write to the database and does this is found out: %s", async (sql, line) => {
  const { run, tamper } = await recorded(stores["a SQLite file"]!);
  await tamper(sql);
  const { code, stdout } = await run("--check");
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(line) });
  const shown = await run();
  if (sql.endsWith("n > 1")) expect(stdout).toContain("1 call without an end: ");
  expect(shown.code).toBe(1);
  expect(shown.stderr).toContain("Something is missing or was changed.");
});

test("the beginning of a call's id is enough, if it is the only one", async () => {
  const { run, tamper } = await recorded(stores["a SQLite file"]!);
  // What belongs to no call is in chains of another kind.
  await tamper(
    "insert into audit (chain, n, id, app, record, at) select '~' || chain, n, id, app, record, at from audit",
  );
  await tamper("update audit set chain = 'ab' || chain where chain not like '~%'");
  const none = await run("--call", "abx");
  expect(none).toMatchObject({ code: 2, stdout: "" });
  expect(none.stderr).toContain('audit: no call in this store has an id that begins with "abx".\n');
  const many = await run("--check", "--call", "ab");
  expect(many).toMatchObject({ code: 2, stdout: "" });
  expect(many.stderr).toMatch(
    /^audit: 3 calls have an id that begins with "ab": ab\w{32}, ab\w{32}, ab\w{32}\. Pass more of the id\.\n/,
  );
  expect((await run("--call", "~")).code).toBe(2);
  expect((await run("--call", "")).code).toBe(2);
});

describe("records that were sealed with a key that is not here", () => {
  const told = (ids: string) =>
    `They were sealed with the key "${ids}". This command does not have that key, or has another one with the same id. Run it with the keys of that time, in PARLEY_KEYS or with --keys-file.\n`;

  test.each([
    ["has another id", "new"],
    ["is another one with the same id", "audit"],
  ])("are shown as far as possible, and are no sign of tampering, if the key %s", async (_, id) => {
    const { runWith, tamper } = await recorded(stores["a SQLite file"]!);
    const other = newKey(id);
    const shown = await runWith(other);
    expect(shown).toMatchObject({
      code: 3,
      stderr: `6 records cannot be read. ${told("audit")}`,
    });
    expect(shown.stdout.split("\n")[1]).toMatch(
      /^20\S+Z  \(sealed\)  –    –    –     \w{32}  record 1 of server "deployer", sealed with the key "audit"$/,
    );
    const { sealed } = read((await runWith(other, "--json", "--until", "1h")).stdout);
    expect(sealed).toEqual([]);
    expect(await runWith(other, "--who", "bo")).toMatchObject({
      code: 3,
      stdout: "There are no such records.\n",
      stderr: expect.stringContaining("6 records could not be searched. "),
    });
    expect(await runWith(other, "--check")).toMatchObject({
      code: 3,
      stdout: `Checked 0 records of 3 calls. Nothing is missing, and nothing that these keys open was changed.\n6 records could not be checked. ${told("audit")}`,
    });
    await tamper("delete from audit where n = 2");
    expect(await runWith(other, "--check")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Call \w+: Record 2 is missing\.$/m),
    });
  });

  test("are told from records that were changed, in one call as in all", async () => {
    const { run, runWith, tamper } = await recorded(stores["a SQLite file"]!);
    const calls = read((await run("--json", "--action", "asked")).stdout)["records"];
    const [{ callId } = { callId: "" }] = calls as { callId: string }[];
    // Every record of this call is one of another call, so the key opens none of them.
    await tamper(`delete from audit where chain = '${callId}'`);
    await tamper(
      `insert into audit (chain, n, id, app, record, at) select '${callId}', n, id, app, record, at from audit where chain = (select min(chain) from audit)`,
    );
    const { code, stdout } = await run("--check", "--call", callId);
    expect(code).toBe(1);
    expect(stdout).toContain("Record 1 was changed, or it belongs to another place.");
    // With the right key and others, everything else opens.
    expect((await runWith(`${newKey("new")},${keys}`, "--check")).code).toBe(1);
  });
});

test("the keys of the development server are found, by the console, too", async () => {
  const { target, cwd } = await recorded(stores["a SQLite file"]!);
  mkdirSync(join(cwd, ".parley"));
  writeFileSync(join(cwd, ".parley/keys"), keys, { mode: 0o600 });
  const env = { PARLEY_KEYS: "" };
  expect(await parley(["audit", target, "--check"], { cwd, env })).toMatchObject({ code: 0 });
  const child = start(["console", target], { cwd, env });
  const said: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  await vi.waitFor(() => expect(said.join("")).toContain("Open this link"), patience);
  expect(said.join("")).toBe(
    'The keys come from .parley/keys.\nOpen this link, once. Ctrl-C ends the console of "deployer".\n',
  );
});

test("a command that cannot work says what it needs", async () => {
  const cwd = emptyFolder();
  const run = (...args: string[]) => parley(["audit", ...args], { cwd });
  expect((await run()).stderr).toContain("audit: pass one store: postgres://… or a SQLite file.");
  expect((await run("x.db", "--action", "aproved")).stderr).toContain(
    'audit: unknown action "aproved". Did you mean "approved"?',
  );
  expect((await run("x.db", "--since", "soon")).stderr).toContain("audit: --since takes a time");
  expect(await run("x.db")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the records are sealed. Set PARLEY_KEYS"),
  });
  expect((await run("--help")).stdout).toContain("--check");
});
