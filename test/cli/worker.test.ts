// `parley worker` as a process: it runs tasks that were created elsewhere, and releases them when it is stopped.

import { once } from "node:events";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { parley as newApp } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { sqliteStore } from "mcp-parley/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { newKey } from "../../src/token/keyring.ts";
import { emptyFolder, parleyProcess, start } from "./run.ts";

const PARLEY_KEYS = newKey("test");

const appFile = `import { appendFileSync } from "node:fs";
import { parley } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";

export const app = parley({ name: "oven", version: "1.0.0", store: sqliteStore("tasks.db", { leaseMs: 60_000 }) });
app.tool("bake", { task: "required" }, async (ctx) => {
  await ctx.background();
  await ctx.step("bake", () => appendFileSync("done.txt", "baked\\n"));
  await ctx.step("wait", ({ signal }) => new Promise((_, give) => signal.addEventListener("abort", give)));
  return "cake";
});
`;

function folderWith(text: string): string {
  const folder = emptyFolder();
  symlinkSync(resolve(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "app.ts"), text);
  return folder;
}

const env = { PARLEY_KEYS };

/** An app on the same store, without a worker. Its task waits until another process runs it. */
async function appWithOneTask(folder: string) {
  const app = newApp({
    name: "oven",
    version: "1.0.0",
    keys: PARLEY_KEYS,
    store: sqliteStore(join(folder, "tasks.db")),
  });
  onTestFinished(() => app.close());
  app.tool("bake", { task: "required" }, async (ctx) => {
    await ctx.background();
    return "not here";
  });
  const connection = await connect(app);
  onTestFinished(() => connection.close());
  const call = connection.start("bake");
  for await (const { type } of call) if (type === "task") break;
  return app;
}

test("runs tasks that were created elsewhere, and releases them at once when it is stopped", async () => {
  // Like the idle connections of a database pool, a timer of the file must not keep the stopped worker alive.
  const folder = folderWith(`${appFile}\nsetInterval(() => {}, 60_000);\n`);
  const app = await appWithOneTask(folder);
  const worker = start(["worker", "app.ts", "--concurrency", "2"], { cwd: folder, env });
  let said = "";
  worker.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const done = () => {
    try {
      return readFileSync(join(folder, "done.txt"), "utf8");
    } catch {
      return said;
    }
  };
  await expect.poll(done).toBe("baked\n");
  expect(said).toContain("Running tasks of app.ts, up to 2 at once.");
  await expect.poll(async () => (await app.health()).tasks?.held).toBe(1);
  worker.kill("SIGTERM");
  const [code] = (await once(worker, "close")) as [number | null];
  expect(code).toBe(0);
  expect(said).toContain("Stopped. Other workers can take over the tasks.");
  // Its lease would have been a minute.
  expect((await app.health()).tasks).toMatchObject({ held: 0, live: 1 });
});

const refusal = "app.ts serves requests, so it runs tasks by itself.";

test("exits without claiming a task if the file listens, even if its port is taken", async () => {
  const taken = createServer();
  await once(taken.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const folder = folderWith(`${appFile}\nawait app.listen(${port});`);
  const app = await appWithOneTask(folder);
  const ran = await parleyProcess(["worker", "app.ts"], { cwd: folder, env });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain(refusal);
  expect((await app.health()).tasks).toMatchObject({ held: 0, live: 1 });
  expect(readdirSync(folder)).not.toContain("done.txt");
});

test.each([
  [
    "exports nothing",
    "export const other = 1;",
    "app.ts does not export an app. Add to it: export const app",
    2,
  ],
  ["listens later", `${appFile}\nsetTimeout(() => app.listen(0), 50);`, refusal, 2],
  ["serves standard input", `${appFile}\nawait app.stdio();`, refusal, 2],
  [
    "listens with a server of its own",
    `import { createServer } from "node:http";\n${appFile}\ncreateServer(app.node).listen(0);`,
    refusal,
    2,
  ],
  ["has no store", appFile.replace(/store: .*\) \}\)/, "})"), "app.work() needs a store", 1],
  ["does not run", "const = 1;", "app.ts:1:6", 1],
])(
  "exits with one clear sentence if the file %s",
  async (_, text, sentence, code) => {
    const ran = await parleyProcess(["worker", "app.ts"], { cwd: folderWith(text), env });
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(sentence);
  },
  120_000,
);
