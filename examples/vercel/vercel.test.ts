// The functions as Vercel calls them: each request in an instance of its own, which lives until its response is sent and
// what it passed to `waitUntil` has settled.

import { once } from "node:events";
import { rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../test/postgres/database.ts";
import type { Database } from "../../test/postgres/database.ts";
import { cakeIn, officialClient, taskClient, textOf, untilStatus } from "../bakery-client.ts";
import { deploy, platform } from "./local.ts";
import type { Deployment } from "./local.ts";

const secret = "a-secret-of-the-cron-job";
let database: Database;
let deployment: Deployment;

beforeAll(async () => {
  database = await freshDatabase();
  deployment = await deploy(import.meta.dirname, {
    DATABASE_URL: database.url,
    PARLEY_KEYS: `test:${"A".repeat(43)}`,
    CRON_SECRET: secret,
  });
});
afterAll(async () => {
  rmSync(deployment.functions, { recursive: true, force: true });
  await database.stop();
});

async function deployed() {
  const server = platform(deployment);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const cron = (authorization: string) =>
    fetch(new URL("/api/cron", url), { headers: { authorization } });
  return { url, cron, runDue: () => cron(`Bearer ${secret}`) };
}

test("each round of a call is served by another instance", async () => {
  const { url } = await deployed();
  const client = await officialClient(url);
  const text = await textOf(client.callTool({ name: "order_bread" }));
  expect(text).toMatch(/^3 × rye, order-./);
});

test("a task runs after the response that created it, and after the one that answered it", async () => {
  const { url } = await deployed();
  const client = await officialClient(url);
  const call = client.callTool({ name: "bake_cake", arguments: { flavour: "lemon" } });
  expect(await textOf(call)).toMatch(/^lemon-[\w-]+ says "Happy birthday"$/);
});

test("the cron job wakes a task days later, and another instance takes the answer", async () => {
  const { url, runDue } = await deployed();
  const restMs = 3 * 86_400_000;
  const { taskId = "" } = await taskClient(url).start("bake_cake", { flavour: "plum", restMs });
  await runDue();
  expect(await taskClient(url).task(taskId)).toMatchObject({ status: "working" });
  await later(restMs);
  const task = await untilStatus(taskClient(url), taskId, "input_required", runDue);
  await taskClient(url).answer(task);
  const { result } = await untilStatus(taskClient(url), taskId, "completed");
  expect(result).toMatchObject({ content: [{ text: `${cakeIn(task)} says "Happy birthday"` }] });
});

/** Moves the clock of the store. */
async function later(ms: number): Promise<void> {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(
    `create or replace function parley.parley_now() returns bigint language sql stable
     as 'select (extract(epoch from clock_timestamp()) * 1000)::bigint + ${ms}'`,
  );
  await client.end();
}

test("a task is cancelled, and the cron job leaves it alone", async () => {
  const { url, runDue } = await deployed();
  const client = taskClient(url);
  const { taskId = "" } = await client.start("bake_cake", { flavour: "nut" });
  await untilStatus(client, taskId, "input_required");
  await client.cancel(taskId);
  await runDue();
  expect(await client.task(taskId)).toMatchObject({ status: "cancelled" });
});

test("the cron job needs its secret, and other addresses lead nowhere", async () => {
  const { url, cron, runDue } = await deployed();
  expect((await cron("Bearer wrong")).status).toBe(401);
  expect((await fetch(new URL("/api/cron", url))).status).toBe(401);
  expect((await fetch(new URL("/elsewhere", url))).status).toBe(404);
  expect(await (await runDue()).json()).toHaveProperty("ran");
});
