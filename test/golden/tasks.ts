// The app behind test/golden/<version>/tasks.db: a SQLite store as a release left it, with tasks in every state, a spilled
// state and a recorded round. tasks.json beside it says what a client knew of them. The tools below must not change.

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";
import { z } from "zod";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import { accept, callTool, envelope, exchange, tokenIn } from "../wire/post.ts";
import type { Answer, Leg } from "../wire/post.ts";

/** What a client of the release knew when it stopped. */
export interface GoldenTasks {
  readonly key: string;
  /** The tasks by their state. Those without another owner are ada's. */
  readonly parked: string;
  readonly waiting: string;
  readonly due: string;
  readonly completed: string;
  /** The handler of this task threw, so its result is an error. */
  readonly threw: string;
  /** The ticket of the task that waits for a delivery. The task belongs to bo. */
  readonly ticket: string;
  /** The token of a call of "large", whose state is in the store. */
  readonly spilled: string;
  /** A round of "pay" that has run, and the response to it. */
  readonly round: { readonly requestState: string; readonly response: unknown };
}

const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => ({
      token,
      clientId: "golden",
      scopes: [],
      expiresAt: Date.now() / 1_000 + 3_600,
      extra: { sub: token },
    }),
  },
};

const follows = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

// Ten years, so that nothing in the file expires while tests use it.
const longMs = 10 * 365 * 24 * 3_600_000;

export function goldenApp(
  path: string,
  keys: string,
  more: Pick<Partial<ParleyOptions>, "store" | "logger"> & {
    readonly ran?: string[];
    readonly tickets?: unknown[];
  } = {},
): App {
  const { ran = [], tickets = [], ...options } = more;
  const app = parley({
    name: "golden",
    version: "1.0.0",
    keys,
    auth,
    principal: ({ extra }: AuthInfo) => String(extra?.["sub"]),
    limits: { taskTtlMs: longMs, tokenTtlMs: longMs },
    ...options,
    store: options.store ?? sqliteStore(path),
  });
  app.tool(
    "order",
    { inputSchema: z.object({ size: z.string() }), task: "optional" },
    async ({ size }, ctx) => {
      const cost = await ctx.step("quote", () => (ran.push("quote"), 7));
      const isSure = await ctx.confirm("sure", `${size} for ${cost}?`);
      await ctx.background();
      await ctx.step("make", () => void ran.push("make"));
      const name = await ctx.ask("name", "What is it called?");
      return JSON.stringify({ size, cost, isSure, name, by: ctx.principal });
    },
  );
  app.tool("approve", { task: "required" }, async (ctx) => {
    await ctx.background();
    const { ok } = await ctx.waitFor("boss", z.object({ ok: z.boolean() }), {
      notify: ({ ticket }) => void tickets.push(ticket),
    });
    return ok ? "approved" : "refused";
  });
  app.tool("broken", { task: "required" }, async (ctx) => {
    await ctx.background();
    throw new Error("no such disk");
  });
  app.tool("large", {}, async (ctx) => {
    const data = await ctx.step("data", () => (ran.push("data"), "x".repeat(50_000)));
    return `${await ctx.ask("name", "Name?")} ${data.length}`;
  });
  app.tool("pay", { once: true }, async (ctx) => {
    const sum = await ctx.ask("sum", "How much?", z.int());
    const count = await ctx.step("pay", () => ran.push("pay"));
    return `paid ${sum} ${count}`;
  });
  return app;
}

/** One request to a tool, as this caller. */
export const callAs = (
  app: App,
  user: string,
  tool: string,
  args: Readonly<Record<string, unknown>> = {},
  leg: Leg = {},
): Promise<Answer> =>
  callTool(app, tool, args, {
    capabilities: follows,
    headers: { authorization: `Bearer ${user}` },
    ...leg,
  });

/** One request about a task, as this caller. */
export const taskAs = (
  app: App,
  user: string,
  method: "tasks/get" | "tasks/update" | "tasks/cancel",
  taskId: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> =>
  exchange(app, envelope(method, { taskId, ...more }, { capabilities: follows }), {
    headers: { authorization: `Bearer ${user}` },
  });

export const orderAs = async (app: App, user: string): Promise<string> => {
  const args = { size: "xl" };
  const asked = await callAs(app, user, "order", args);
  const requestState = tokenIn(asked);
  const leg = { requestState, inputResponses: { sure: accept({ sure: true }) } };
  return idIn(await callAs(app, user, "order", args, leg));
};

export const idIn = ({ result, error }: Answer): string => {
  const id = result?.["taskId"];
  if (typeof id !== "string")
    throw new Error(`This is no task: ${JSON.stringify(result ?? error)}`);
  return id;
};

/** Asks for a task until it has this status. */
export async function taskWith(
  app: App,
  user: string,
  id: string,
  status: string,
): Promise<Answer> {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const answer = await taskAs(app, user, "tasks/get", id);
    if (answer.result?.["status"] === status) return answer;
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`Task ${id} is not ${status}.`);
}

/** Writes tasks.db and tasks.json into this folder. Run by scripts/golden.ts. */
export async function writeGoldenTasks(folder: string, key: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), "parley-golden-"));
  const path = join(place, "tasks.db");
  const tickets: unknown[] = [];
  const store = sqliteStore(path);
  const app = goldenApp(path, key, { store, tickets });
  await app.work();
  const parked = await orderAs(app, "ada");
  await taskWith(app, "ada", parked, "input_required");
  const completed = await orderAs(app, "ada");
  await taskWith(app, "ada", completed, "input_required");
  const answers = { inputResponses: { name: accept({ name: "Rex" }) } };
  await taskAs(app, "ada", "tasks/update", completed, answers);
  await taskWith(app, "ada", completed, "completed");
  const threw = idIn(await callAs(app, "ada", "broken"));
  await taskWith(app, "ada", threw, "completed");
  const waiting = idIn(await callAs(app, "bo", "approve"));
  for (let tries = 0; tickets.length === 0 && tries < 3_000; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const spilled = tokenIn(await callAs(app, "ada", "large"));
  const requestState = tokenIn(await callAs(app, "ada", "pay"));
  const leg = { requestState, inputResponses: { sum: accept({ sum: 12 }) } };
  const { result: response } = await callAs(app, "ada", "pay", {}, leg);
  await app.close();
  // No worker runs now, so this task stays due.
  const idle = goldenApp(path, key, { store });
  const due = await orderAs(idle, "ada");
  await idle.close();
  await store.close();
  // After this, one file holds the whole database.
  const database = (await loadDriver())(path);
  database.exec("vacuum");
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
  const [ticket] = tickets;
  const known: GoldenTasks = {
    key,
    parked,
    waiting,
    due,
    completed,
    threw,
    ticket: String(ticket),
    spilled,
    round: { requestState, response },
  };
  copyFileSync(path, join(folder, "tasks.db"));
  writeFileSync(join(folder, "tasks.json"), `${JSON.stringify(known, undefined, 2)}\n`);
  rmSync(place, { recursive: true });
}
