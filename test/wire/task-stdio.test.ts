// A process with tasks over standard input and output. It ends with its client, but its tasks do not.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { accept, envelope } from "./post.ts";
import { started } from "./stdio-process.ts";
import type { StdioProcess } from "./stdio-process.ts";
import { follows } from "./task-calls.ts";

const server = new URL("stdio-oven.ts", import.meta.url);

function store(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), "parley-task-stdio-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { OVEN_STORE: join(folder, "tasks.db") };
}

async function ask({ send, next }: StdioProcess, method: string, params: object) {
  send(envelope(method, { ...params }, { capabilities: follows }));
  const { result, error } = await next();
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result;
}

test("the server exits by itself when its input ends, even if its app can run tasks [S67]", async () => {
  const oven = started(server);
  await ask(oven, "tools/list", {});
  oven.hangUp();
  expect(await oven.exit).toBe(0);
});

test("work under way is then handed over, and the next process on the store completes it [S67] [S110]", async () => {
  const env = store();
  const before = started(server, { env });
  const { taskId } = await ask(before, "tools/call", { name: "bake", arguments: { loaf: "rye" } });
  before.hangUp();
  expect(await before.exit).toBe(0);
  const after = started(server, { env });
  const get = () => ask(after, "tasks/get", { taskId });
  await expect.poll(get).toMatchObject({ status: "input_required" });
  await ask(after, "tasks/update", {
    taskId,
    inputResponses: { crust: accept({ crust: "thin" }) },
  });
  await expect.poll(get).toMatchObject({
    status: "completed",
    result: { content: [{ text: "rye with a thin crust" }] },
  });
  after.hangUp();
  expect(await after.exit).toBe(0);
});
