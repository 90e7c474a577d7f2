import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore, parley } from "mcp-parley";
import type { Logger, ParleyOptions } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { doctor } from "../../src/cli/commands/doctor.ts";
import { lineOf } from "../../src/cli/doctor/finding.ts";
import { nodeFinding } from "../../src/cli/doctor/environment-findings.ts";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import { newKey } from "../../src/token/keyring.ts";
import { patience } from "../patience.ts";
import { freshDatabase } from "../postgres/database.ts";
import { begun } from "../wire/task-calls.ts";
import { inEmptyFolder, run } from "./keys-io.ts";

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const key = newKey("mine");
const env = { PARLEY_KEYS: key };

/** What it was asked to do, and where it listens. */
async function server(options: Partial<ParleyOptions> = {}) {
  const done: string[] = [];
  const app = parley({
    name: "till",
    version: "1.2.3",
    keys: key,
    logger: quiet,
    ...options,
  } as ParleyOptions);
  app.tool("sell", { inputSchema: z.object({ count: z.int() }) }, async ({ count }, ctx) => {
    await ctx.confirm("sure", `Sell ${count}?`);
    await ctx.step("sell", () => void done.push("sold"));
    return "sold";
  });
  app.tool("look", {}, async () => "nothing to see");
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  return { url, done };
}

test("prints a line for each check that passes, and exits with 0", async () => {
  const { url, done } = await server();
  const trial = ["--tool", "sell", "--arg", "count=2"];
  const { code, out } = await run(doctor, [url, ...trial], env);
  expect(out.split("\n").map((line) => line.replace(/\d+ min \d+ s/, "T"))).toEqual([
    `✔ Node         ${process.versions.node}`,
    '✔ keys         "mine" seals (PARLEY_KEYS)',
    "✔ server       till 1.2.3",
    "✔ protocol     2026-07-28",
    "✔ offers       2 tools",
    "✔ ready        its keys and its store are available",
    "✔ clock        the same as on this machine, within a few seconds",
    "✔ time limit   people have T to answer",
    "– shared keys  pass the URL of a second replica to compare with.",
    "",
  ]);
  expect(code).toBe(0);
  expect(done).toEqual([]);
});

test("finds a replica with other keys, without running a step", async () => {
  const [one, same, other] = [
    await server(),
    await server(),
    await server({ keys: newKey("other") }),
  ];
  const trial = ["--tool", "sell", "--arg", "count=2"];
  const fine = await run(doctor, [one.url, same.url, ...trial], env);
  expect(fine.out).toContain(`✔ shared keys  ${same.url} opens what the first replica seals`);
  expect(fine.code).toBe(0);
  const wrong = await run(doctor, [one.url, other.url, ...trial], env);
  expect(wrong.out).toContain(
    `✖ shared keys  ${other.url} refuses what the first replica seals (key "mine"). Give both the same PARLEY_KEYS and the same name.`,
  );
  expect(wrong.code).toBe(1);
  expect([...one.done, ...same.done, ...other.done]).toEqual([]);
});

test("cannot check shared keys with a tool that asks nothing or does not exist", async () => {
  const { url } = await server();
  expect((await run(doctor, [url, "--tool", "look"], env)).out).toContain(
    "– shared keys  look was called and ended without a question. Pass a tool that asks before it does anything,",
  );
  expect((await run(doctor, [url, "--tool", "loook"], env)).out).toContain(
    `– shared keys  the server has no tool "loook". parley list <url> shows the ones that it has.\n`,
  );
});

test("reports a time limit that is too short for people", async () => {
  const { url } = await server({ limits: { tokenTtlMs: 30_000 } });
  const { code, out } = await run(doctor, [url, "--tool", "sell", "--arg", "count=1"], env);
  expect(out).toMatch(
    /✖ time limit {3}people have only (30\.0|29\.\d) s to answer\. Raise limits\.tokenTtlMs\./,
  );
  expect(code).toBe(1);
});

test("reports keys that are malformed, and keys that production needs", async () => {
  inEmptyFolder();
  const bad = await run(doctor, [], { PARLEY_KEYS: "mine:short" });
  expect(bad.code).toBe(1);
  expect(bad.out).toMatch(/✖ keys {9}PARLEY_KEYS: key "mine"/);
  expect((await run(doctor, [], { NODE_ENV: "production" })).out).toContain(
    "✖ keys         none. Set PARLEY_KEYS",
  );
  const { code, out } = await run(doctor, []);
  expect(out).toContain("– keys         none in this shell. A server elsewhere has its own");
  expect(code).toBe(0);
});

test("reports a Node that is too old", () => {
  expect(nodeFinding("18.20.4").state).toBe("wrong");
  expect(nodeFinding("20.19.0").state).toBe("fine");
  expect(nodeFinding("24.0.0").state).toBe("fine");
});

/** A proxy that makes a server's clock look wrong. */
async function frontOf(url: string, skewMs: number): Promise<string> {
  const front = createServer((incoming, response) => {
    const { method, headers } = incoming;
    const forwarded = request(new URL(incoming.url ?? "/", url), { method, headers }, (answer) => {
      const date = new Date(Date.now() + skewMs).toUTCString();
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, date });
      answer.pipe(response);
    });
    incoming.pipe(forwarded);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    front.close();
    front.closeAllConnections();
  });
  await once(front, "listening");
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
}

test("reports a replica whose clock differs from this machine's and from another replica's", async () => {
  const { url } = await server();
  const slow = await frontOf(url, -90_000);
  const { code, out } = await run(doctor, [url, slow], env);
  expect(code).toBe(1);
  expect(out).toMatch(/✖ clock {8}1 min [23]\d s behind this machine/);
  expect(out).toMatch(
    new RegExp(
      `✖ clocks {7}${new URL(url).host} is 1 min [23]\\d s ahead of ${new URL(slow).host}\\. `,
    ),
  );
  // If this machine's clock is wrong, the replicas still agree.
  const same = await run(doctor, [slow, await frontOf(url, -90_000)], env);
  expect(same.out).toContain("✔ clocks       the replicas have the same time\n");
});

test("text from a server cannot overwrite the terminal", () => {
  // For example in the id of a state's key, which the server chooses.
  const found = lineOf({ about: "server", state: "wrong", text: 'key "\u001B[2J\u009B2J\u202Ea"' });
  expect(found).toBe('✖ server       key "a"');
});

test("reports a development key that other users can read", async () => {
  const folder = inEmptyFolder();
  mkdirSync(join(folder, ".parley"));
  writeFileSync(join(folder, ".parley/keys"), newKey("dev"), { mode: 0o600 });
  expect((await run(doctor, [])).out).toContain('✔ keys         "dev" seals (.parley/keys)');
  chmodSync(join(folder, ".parley/keys"), 0o644);
  const { code, out } = await run(doctor, []);
  expect(code).toBe(1);
  expect(out).toContain("✖ keys         .parley/keys can be read by other users");
});

test("reports a server that cannot be reached", async () => {
  const { code, out } = await run(doctor, ["http://127.0.0.1:1/mcp"], env);
  expect(code).toBe(1);
  expect(out).toMatch(/✖ server {7}.*cannot be reached/);
});

test("checks a SQLite store that is missing, has no tables, or has a worker, without changing it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "tasks.db");
  expect((await run(doctor, ["--store", file], env)).out).toContain(
    `✖ store        There is no store at ${file}.`,
  );

  (await loadDriver())(file).close();
  const database = (await loadDriver())(file);
  database.exec("create table mine (a text)");
  for (const _ of ["once", "again"]) {
    const { code, out } = await run(doctor, ["--store", file], env);
    expect(out).toMatch(/✖ migrations {3}\d+ missing\. Run: parley migrate/);
    expect(code).toBe(1);
  }
  database.close();

  const app = parley({
    name: "till",
    version: "1.0.0",
    keys: key,
    store: sqliteStore(file),
    logger: quiet,
  });
  app.tool("long", { task: "optional" }, async () => "done");
  const { close } = await app.work();
  onTestFinished(close);
  // The worker is visible once it has looked for work.
  await expect
    .poll(async () => (await run(doctor, ["--store", file], env)).out)
    .toMatch(
      /✔ migrations {3}up to date\n✔ worker {7}active .* ago\n✔ tasks {8}0 unfinished, 0 running\n– store keys/,
    );
  expect((await run(doctor, ["--store", file], env)).code).toBe(0);
});

test("a tool that becomes a task was called, which the result says, and its task is cancelled", async () => {
  const done: string[] = [];
  const store = memoryStore();
  const app = parley({ name: "till", version: "1.2.3", keys: key, logger: quiet, store });
  app.tool("deploy", { task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.step("push", () => void done.push("pushed"));
    await ctx.confirm("sure", "Release?");
    return "released";
  });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const { code, out } = await run(doctor, [url, "--tool", "deploy"], env);
  expect(out).toContain(
    "– shared keys  deploy was called, became a task before it asked anything, and its task was cancelled. What it did until then is done. Pass a tool that asks before it does anything, or compare the keys with those of the store: --store.\n",
  );
  expect(code).toBe(0);
  expect((await app.health()).tasks).toMatchObject({ live: 0 });
});

test("compares the keys of a store with the ones here, without a call", async () => {
  const file = join(inEmptyFolder(), "tasks.db");
  const store = sqliteStore(file);
  const app = parley({ name: "till", version: "1.2.3", keys: key, logger: quiet, store });
  app.tool("wait", { task: "required" }, async (ctx) => {
    await ctx.background();
    return (await ctx.confirm("sure", "Sure?")) ? "yes" : "no";
  });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const look = async (PARLEY_KEYS: string) =>
    (await run(doctor, ["--store", file], { PARLEY_KEYS })).out;
  expect(await look(key)).toContain("– store keys   nothing is sealed in this store yet.");
  await begun(url, "wait");
  expect(await look(key)).toContain(
    '✔ store keys   the newest records of the store are sealed with "mine"\n',
  );
  expect(await look(newKey("new"))).toContain(
    '✖ store keys   the newest records of the store are sealed with "mine", and the keys here lack "mine". Give all replicas the same PARLEY_KEYS.\n',
  );
  await expect
    .poll(() => look(newKey("mine")), patience)
    .toContain("and the keys here with these ids are others.");
  expect(await look("")).toContain("Set PARLEY_KEYS to compare.");
});

test("checks a Postgres store that is down, has no tables, or is up to date", async () => {
  const { url, stop } = await freshDatabase();
  onTestFinished(stop);
  const empty = await run(doctor, ["--store", url], env);
  expect(empty.out).toMatch(/✔ store.*\n✖ migrations {3}[1-9]\d* missing\. Run: parley migrate/);
  const { PostgresStore } = await import("../../src/tasks/stores/postgres/postgres-store.ts");
  const store = new PostgresStore(url);
  await store.migrate();
  await store.close();
  const { code, out } = await run(doctor, ["--store", url, "--json"], env);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    findings: expect.arrayContaining([
      { about: "migrations", state: "fine", text: "up to date" },
      expect.objectContaining({ about: "worker", state: "not checked" }),
    ]),
  });
  const down = await run(doctor, ["--store", "postgres://postgres@127.0.0.1:1/x"], env);
  expect(down.code).toBe(1);
  expect(down.out).toContain("✖ store");
});
