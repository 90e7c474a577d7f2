// Renewing a token with several replicas: real processes on Postgres.

import { postgresStore } from "mcp-parley/postgres";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { gate } from "../gate.fixture.ts";
import { patience } from "../patience.ts";
import { freshDatabase } from "../postgres/database.ts";
import type { Database } from "../postgres/database.ts";
import { startProgram } from "../programs.ts";
import type { Program } from "../programs.ts";
import { envelope, exchange } from "../wire/post.ts";
import { call as callTask, follows, taskIdIn } from "../wire/task-calls.ts";
import { longErrand } from "./long-errand.ts";
import { linkIn, served, whoAmI } from "./served.ts";
import type { Served } from "./served.ts";

let database: Database;
beforeAll(async () => void (database = await freshDatabase()));
afterAll(() => database?.stop());

const headers = { authorization: "Bearer ada" };

/** Ada has signed in, with a token that has expired and can be renewed. This process runs no tasks. */
async function afterExpiry(leaseMs: number): Promise<Served> {
  const store = postgresStore(database.url, { leaseMs });
  onTestFinished(() => store.close());
  const made = await served(
    (app, github, api) => {
      whoAmI(app, github, api);
      longErrand(app, github, api);
    },
    { app: { store }, hasMetadata: false, server: { tokenSeconds: 1 } },
  );
  await made.app.disconnect("ada", made.github);
  const asked = await made.call("who", "ada");
  expect((await made.person("ada").signIn(linkIn(asked))).text).toContain("Connected");
  const expiredAt = Date.now() + 1_000;
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(expiredAt), patience);
  expect(made.server.grants).toEqual(["authorization_code"]);
  return made;
}

async function replica({ server }: Served, leaseMs: number): Promise<Program> {
  const env = { DATABASE: database.url, ISSUER: server.issuer, LEASE: String(leaseMs) };
  const program = startProgram("test/oauth/replica.ts", env);
  onTestFinished(() => program.kill("SIGKILL"));
  for await (const line of program.lines) if (line === "ready") return program;
  throw new Error("The replica has ended.");
}

const begin = async ({ app }: Served): Promise<string> =>
  taskIdIn(await callTask(app, "errand", {}, { headers }));

async function expectDone({ app }: Served, taskId: string): Promise<void> {
  await vi.waitFor(async () => {
    const read = envelope("tasks/get", { taskId }, { capabilities: follows });
    const { result } = await exchange(app, read, { headers });
    expect(result).toMatchObject({ status: "completed" });
    expect(JSON.stringify(result)).toContain('200 {\\"login\\":\\"ada\\"}');
  }, patience);
}

const renewals = ({ server }: Served): number =>
  server.grants.filter((grant) => grant === "refresh_token").length;

test("three replicas that need an expired token send one request to renew it", async () => {
  const leaseMs = 60_000;
  const made = await afterExpiry(leaseMs);
  const arrived: string[] = [];
  const { opened, open } = gate();
  made.server.onGate = async (who) => {
    arrived.push(who);
    await opened;
  };
  await Promise.all([replica(made, leaseMs), replica(made, leaseMs), replica(made, leaseMs)]);
  const tasks = await Promise.all(Array.from({ length: 6 }, () => begin(made)));
  // Each replica holds two tasks, and all of them go on at the same moment.
  await vi.waitFor(() => expect(arrived).toHaveLength(6), patience);
  expect(new Set(arrived).size).toBe(3);
  open();
  for (const task of tasks) await expectDone(made, task);
  expect(renewals(made)).toBe(1);
});

test("if a replica is killed while it renews a token, another one does it after the lease", async () => {
  const leaseMs = 3_000;
  const made = await afterExpiry(leaseMs);
  let requests = 0;
  made.server.onToken = () => {
    requests += 1;
    // The first one is never answered.
    return requests === 1 ? new Promise(() => {}) : undefined;
  };
  const mortal = await replica(made, leaseMs);
  const task = await begin(made);
  await vi.waitFor(() => expect(requests).toBe(1), patience);
  mortal.kill("SIGKILL");
  await replica(made, leaseMs);
  await expectDone(made, task);
  expect(requests).toBeGreaterThan(1);
});
