// Two replicas on a real Postgres: one is killed, and the task goes on through the other one.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../test/postgres/database.ts";
import { start } from "../child.ts";
import { TaskClient } from "../task-client.ts";

const here = import.meta.dirname;
/** How long to poll. The machine may be busy. */
const patience = { timeout: 30_000 };

test("a task that two managers approve in the console survives the death of a replica", async () => {
  const { url: database, stop } = await freshDatabase();
  onTestFinished(stop);
  const replica = async () => {
    const child = start(join(here, "server.ts"), {
      NODE_ENV: "production",
      DATABASE_URL: database,
      PARLEY_KEYS: `test:${"A".repeat(43)}`,
      PUBLIC_URL: "https://deploy.example.com",
      PORT: "0",
    });
    onTestFinished(() => child.kill("SIGKILL"));
    const lines = child.lines[Symbol.asyncIterator]();
    const next = async () => String((await lines.next()).value);
    return { ...child, next, url: (await next()).replace("url ", "") };
  };
  const [first, second] = await Promise.all([replica(), replica()]);
  const headers = { authorization: "Bearer ada" };
  const client = new TaskClient({ url: first.url, headers });
  const { taskId = "" } = await client.start("deploy", { version: "1.4.2" });

  const as = (person: string) => async (path: string, body?: unknown) => {
    const { origin } = new URL(second.url);
    const response = await fetch(new URL(`/console/api/${path}`, origin), {
      headers: { cookie: `person=${person}`, origin, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  await expect.poll(async () => (await as("bob")("inbox")).text, patience).toContain(taskId);
  first.kill("SIGKILL");
  const decision = { task: taskId, key: "approval", approve: true };
  expect((await as("ada")("decisions", decision)).status).toBe(403);
  expect((await as("bob")("decisions", decision)).text).toContain("counted");
  expect((await as("carol")("decisions", decision)).text).toContain("approved");
  const done = await new TaskClient({ url: second.url, headers }).follow(taskId);
  expect(done).toBe("registry.example.com/shop:1.4.2 is released.");
  expect(await second.next()).toMatch(/^release [\da-f]{32}\/release$/);
  expect((await as("nobody")("inbox")).status).toBe(403);
});

test("the unit passes what the server reads", () => {
  const unit = readFileSync(join(here, "deployments@.service"), "utf8");
  const server = readFileSync(join(here, "server.ts"), "utf8");
  const [, names = ""] = /const \{ (.*) \} = process\.env/.exec(server) ?? [];
  for (const name of [...names.matchAll(/[A-Z_]{2,}/g)].flat()) expect(unit).toContain(name);
});
