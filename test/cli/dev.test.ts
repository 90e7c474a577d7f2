// `parley dev` on a terminal: a server file is edited while a call is between two rounds.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connect } from "mcp-parley/client";
import type { Call, CallEvent } from "mcp-parley/client";
import { expect, onTestFinished, test } from "vitest";
import { keys, parleyOnScreen } from "./screen.ts";

const tool = `import { parley } from "mcp-parley";
import { z } from "zod";
import { thanks } from "./words.ts";

export const app = parley({ name: "kitchen", version: "1.0.0" });
app.tool("cook", { inputSchema: z.object({ guests: z.int().min(1) }) }, async ({ guests }, ctx) => {
  const dish = await ctx.choose("dish", "What shall it be?", ["soup", "cake"]);
  await ctx.step("shop", () => "bought");
  await ctx.confirm("hungry", "Are you hungry?");
  return thanks(dish, guests);
});
`;
const words = `export const thanks = (dish: string, guests: number) => \`\${dish} for \${guests}\`;\n`;
const server = `import { app } from "./tool.ts";\nawait app.listen(Number(process.env.PORT));\n`;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => probe.once("listening", listening));
  const { port } = probe.address() as AddressInfo;
  await new Promise((closed) => probe.close(closed));
  return port;
}

async function kitchen(main = server) {
  const folder = mkdtempSync(join(tmpdir(), "parley-dev-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(resolve(import.meta.dirname, "../../node_modules"), join(folder, "node_modules"));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write("package.json", '{ "type": "module" }');
  write("tool.ts", tool);
  write("words.ts", words);
  write("server.ts", main);
  const port = String(await freePort());
  const screen = parleyOnScreen(["dev", "server.ts"], { cwd: folder, env: { PORT: port } });
  onTestFinished(() => screen.kill("SIGKILL"));
  return { screen, write, url: `http://127.0.0.1:${port}/mcp` };
}

/** Matches the screen once the server has started this many times. */
const started = (times: number) => new RegExp(`(✔ server.ts http[^]*){${times}}`);

/** A call that has answered its first question, so that a step is recorded, and waits at the second. */
async function parked(url: string): Promise<Call> {
  const connection = await connect(url, { elicit: "events" });
  onTestFinished(() => connection.close());
  const call = connection.start("cook", { guests: 2 });
  for await (const event of call) {
    if (event.type !== "asked") continue;
    if (event.questions.some(({ key }) => key === "hungry")) break;
    await call.answer("dish", { action: "accept", content: { dish: "cake" } });
  }
  return call;
}

test("prints the URL, how to call the tools and what is watched; Ctrl-C stops the server", async () => {
  const { screen, url } = await kitchen();
  await screen.shows(/Ctrl-C stops/);
  expect(screen.text()).toContain(`✔ server.ts ${url}`);
  expect(screen.text()).toContain(`npx mcp-parley call ${url} cook guests=1`);
  expect(screen.text()).toContain("Watching server.ts and 2 imports.");
  screen.press(keys.interrupt);
  expect(await screen.ended).toBe(130);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});

test("a call continues after an edit of an imported file", async () => {
  const { screen, write, url } = await kitchen();
  await screen.shows(/Ctrl-C stops/);
  const call = await parked(url);
  write("words.ts", words.replace("for", "and a coffee for"));
  await screen.shows(/words\.ts changed, reloading/);
  await screen.shows(started(2));
  await call.answer("hungry", { action: "accept", content: {} });
  expect((await call.result()).text).toBe("cake and a coffee for 2");
  expect(screen.text()).not.toContain("Your edit");
});

test("warns if an edit changes what a call in progress has done", async () => {
  const { screen, write, url } = await kitchen();
  await screen.shows(/Ctrl-C stops/);
  const call = await parked(url);
  write("tool.ts", tool.replace("What shall it be?", "Soup or cake?"));
  await screen.shows(started(2));
  await call.answer("hungry", { action: "accept", content: {} });
  await expect(call.result()).rejects.toThrow("no longer does what it did earlier in this call");
  await screen.shows(
    /▲ Your edit changed what a call in progress has done\. Start that call again\./,
  );
  await screen.shows(/ctx\.patched/);
  await screen.shows(/question\s+"dish" \(tool\.ts:7\)/);
});

test("says that a question is asked again if an edit changes it during a call", async () => {
  const { screen, write, url } = await kitchen();
  await screen.shows(/Ctrl-C stops/);
  const call = await parked(url);
  write("tool.ts", tool.replace("Are you hungry?", "Are you very hungry?"));
  await screen.shows(started(2));
  const asked = call[Symbol.asyncIterator]();
  await call.answer("hungry", { action: "accept", content: {} });
  await screen.shows(
    /▲ Your edit changed a question of a call in progress, so it is asked again\./,
  );
  expect(await nextQuestion(asked)).toBe("Are you very hungry?");
  await call.answer("hungry", { action: "accept", content: {} });
  expect((await call.result()).text).toBe("cake for 2");
});

/** What it asks next. */
async function nextQuestion(events: AsyncIterator<CallEvent>): Promise<string | undefined> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) return undefined;
    const [question] = value.type === "asked" ? value.questions : [];
    if (question?.kind === "form") return question.message;
  }
}

test("waits for the next change if the file does not run", async () => {
  const { screen, write, url } = await kitchen();
  await screen.shows(/Ctrl-C stops/);
  write("tool.ts", `${tool}\nconst oops = ;`);
  await screen.shows(/server\.ts exited with code 1\. Waiting for a change\./);
  expect(screen.text()).toMatch(/tool\.ts:\d+:\d+/);
  write("tool.ts", tool.replace("bought", "bought it all"));
  await screen.shows(started(2));
  expect((await fetch(new URL("/healthz", url))).status).toBe(200);
});

test("shows why the file does not run, without the code of Node that threw it", async () => {
  const { screen } = await kitchen(
    `import { readFileSync } from "node:fs";\nreadFileSync("missing.txt");\n`,
  );
  await screen.shows(/exited with code 1. Waiting for a change/);
  expect(screen.text()).toContain("Error: ENOENT: no such file or directory, open 'missing.txt'");
  expect(screen.text()).not.toMatch(/node:fs:|binding|\^/);
});

test("does not restart if a file is only touched, or is not one of its files", async () => {
  const { screen, write } = await kitchen();
  await screen.shows(/Ctrl-C stops/);
  write("tool.ts", tool);
  write("other.ts", "export {};");
  write("words.ts", words.replace("for", "4"));
  await screen.shows(started(2));
  expect(screen.text().match(/changed, reloading/g)).toHaveLength(1);
});

test("refuses a server that uses standard input and output", async () => {
  const { screen } = await kitchen(`import { app } from "./tool.ts";\nawait app.stdio();\n`);
  await screen.shows(/server\.ts uses standard input and output/);
  await screen.shows(/app\.listen\(3000\)/);
  expect(await screen.ended).toBe(1);
});

test("refuses a file that does not exist", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-dev-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const screen = parleyOnScreen(["dev", "nothing.ts"], { cwd: folder });
  onTestFinished(() => screen.kill("SIGKILL"));
  await screen.shows(/The file nothing\.ts does not exist\./);
  expect(await screen.ended).toBe(2);
});
