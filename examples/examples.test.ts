// Runs the examples that are programs, and the transcript of the README.

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { start } from "./child.ts";
import { TaskClient } from "./task-client.ts";

const here = import.meta.dirname;
const run = promisify(execFile);

test("work-items: the official client, three processes and one key make each write once", async () => {
  const main = join(here, "work-items/main.ts");
  const { stdout } = await run(process.execPath, ["--import", "tsx", main], { timeout: 100_000 });
  expect(stdout).toContain(
    "result: Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.",
  );
  expect(stdout).toContain("written to 2 time(s), each write once: yes");
  const replicas = new Set(stdout.match(/request → replica \d/g));
  expect(replicas.size).toBe(3);
});

test("hello-ask runs as it stands in the README, except for its port", async () => {
  const folder = join(here, "hello-ask/.run");
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const source = readFileSync(join(here, "hello-ask/server.ts"), "utf8");
  const anyPort = source.replace(
    "await app.listen(3000);",
    'const { url } = await app.listen(0);\nconsole.log("url", url);',
  );
  expect(anyPort).not.toBe(source);
  writeFileSync(join(folder, "server.ts"), anyPort);
  cpSync(join(here, "../tsconfig.json"), join(folder, "tsconfig.json"));

  const server = start(join(folder, "server.ts"), { NODE_ENV: "development" });
  onTestFinished(() => server.kill("SIGKILL"));
  const printed = server.lines[Symbol.asyncIterator]();
  const { value: line } = await printed.next();
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: "accept",
    content: params.message.startsWith("How") ? { how: "Duplicate" } : { of: 4301 },
  }));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(String(line).split(" ")[1] ?? "")),
  );
  const { content } = await client.callTool({ name: "resolve_bug", arguments: { id: 4522 } });
  await client.close();
  expect(content).toEqual([{ type: "text", text: "#4522 closed as Duplicate" }]);
  expect((await printed.next()).value).toBe("tracker: close 4522 Duplicate 4301");
});

test("the README's transcript is what the command prints, apart from times and sizes", async () => {
  const readme = readFileSync(join(here, "../README.md"), "utf8");
  const [, command = "", shown = ""] =
    /```console\n\$ npx mcp-parley (call [^\n]*)\n([\s\S]*?)```/.exec(readme) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const server = join(here, "hello-ask/server.ts");
  const args = command.split(" ").map((word) => (word === "server.ts" ? server : word));
  const main = join(here, "../src/cli/main.ts");
  const { stdout, stderr } = await run(
    process.execPath,
    ["--import", "tsx", main, ...args, "--journal", folder],
    { timeout: 100_000 },
  );
  const plain = (text: string) =>
    text
      .replaceAll(/\d+(?:\.\d+)? (?:ms|s)\b/g, "# ms")
      .replaceAll(/\d+(?:\.\d+)?(?= B\b)/g, "#")
      .replaceAll(/ +/g, " ");
  expect(plain(stderr + stdout)).toBe(plain(shown));
});

test("deploy-approval: an agent asks, two managers follow the link, and one command says who they are", async () => {
  const folder = mkdtempSync(join(tmpdir(), "deploy-approval-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const tasks = join(folder, "tasks.db");
  const keys = { PARLEY_KEYS: `test:${"A".repeat(43)}` };
  const server = start(join(here, "deploy-approval/server.ts"), {
    PORT: "0",
    NODE_ENV: "development",
    TASKS_FILE: tasks,
    ...keys,
  });
  onTestFinished(() => server.kill("SIGKILL"));
  const printed = server.lines[Symbol.asyncIterator]();
  const [, url = ""] = String((await printed.next()).value).split(" ");

  const client = new TaskClient({ url, headers: { authorization: "Bearer ada" } });
  const { taskId = "" } = await client.start("deploy", { service: "shop", version: "1.4.2" });
  const [, link = "", ...subject] = String((await printed.next()).value).split(" ");
  expect(subject.join(" ")).toBe("ada wants to deploy shop 1.4.2");
  for (const name of ["bob", "carol"]) {
    const headers = { cookie: `person=${name}`, origin: new URL(link).origin };
    const page = await (await fetch(link, { headers })).text();
    const digest = /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? "";
    const body = new URLSearchParams({ digest, action: "accept", note: `${name} agrees` });
    expect((await fetch(link, { method: "POST", headers, body })).status).toBe(200);
  }
  expect(await client.follow(taskId)).toBe("shop 1.4.2 is deployed. Approved by bob and carol.");
  expect((await printed.next()).value).toBe("deploy shop 1.4.2");

  const main = join(here, "../src/cli/main.ts");
  const question = ["audit", tasks, "--text", "shop 1.4.2", "--action", "approved", "--json"];
  const { stdout } = await run(process.execPath, ["--import", "tsx", main, ...question], {
    timeout: 100_000,
    env: { ...process.env, ...keys },
  });
  const approved = { action: "approved", tool: "deploy", via: "link", principal: "ada" };
  const shown = { message: "Deploy shop 1.4.2?", about: { Service: "shop", Version: "1.4.2" } };
  expect(JSON.parse(stdout)).toMatchObject({
    records: ["bob", "carol"].map((who) => ({
      ...approved,
      ...shown,
      who,
      note: `${who} agrees`,
    })),
  });
});
