// `parley worker` as a process: it runs what was created elsewhere, and hands over when it is told to end.

import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parley as newApp } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { sqliteStore } from "mcp-parley/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { newKey } from "../../src/token/keyring.ts";
import { emptyFolder, parley, start } from "./run.ts";

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

test("it runs what was created elsewhere; told to end, it gives its tasks back at once", async () => {
  const folder = folderWith(appFile);
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
}, 120_000);

test.each([
  [
    "exports nothing",
    "export const other = 1;",
    "app.ts does not export an app. Add to it: export const app",
    2,
  ],
  ["listens", `${appFile}\nawait app.listen(0);`, "app.ts listens, so it runs tasks by itself", 2],
  ["has no store", appFile.replace(/store: .*\) \}\)/, "})"), "app.work() needs a store", 1],
  ["does not run", "const = 1;", "app.ts:1:6", 1],
])(
  "one clear sentence for a file that %s",
  async (_, text, sentence, code) => {
    const ran = await parley(["worker", "app.ts"], { cwd: folderWith(text), env });
    expect(ran.code).toBe(code);
    expect(ran.stderr).toContain(sentence);
  },
  120_000,
);
