// What the log says about the worker of a process: its name, and from whom it takes tasks over.

import { hostname } from "node:os";
import { expect, onTestFinished, test, vi } from "vitest";
import type { TaskStore } from "../../tasks/store.ts";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import { newKey } from "../../token/keyring.ts";
import { registeredAs } from "../define/handles.ts";
import { parley } from "../parley.ts";
import { serveRound } from "../round/round.ts";

const keys = newKey("test");

type Line = readonly [level: string, message: string, fields: Record<string, unknown> | undefined];

function replica(store: TaskStore) {
  const lines: Line[] = [];
  const note = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void lines.push([level, message, fields]);
  const logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  const app = parley({ name: "replicas", version: "1.0.0", keys, store, logger });
  onTestFinished(() => app.close());
  const tool = app.tool("deploy", { task: "optional" }, async (ctx) => {
    await ctx.background();
    return ctx.step("push", () => "pushed");
  });
  const start = async () => {
    const { core, definition } = registeredAs(tool);
    const response = await serveRound(core, definition, {
      target: "deploy",
      arguments: {},
      capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
      principal: undefined,
      facts: { meta: {} },
    });
    if (response.kind !== "task") throw new Error(JSON.stringify(response));
    return response.task;
  };
  return { app, lines, start };
}

test("a worker says under which name it runs tasks", async () => {
  const { app, lines } = replica(new MemoryStore());
  await app.work();
  const name = expect.stringMatching(/-[\da-f]{6}@1\.0\.0$/) as string;
  expect(lines).toEqual([["info", lines[0]?.[1], { worker: name }]]);
  const prefix = `running tasks as ${hostname()}-${process.pid}-`;
  expect(lines[0]?.[1].startsWith(prefix)).toBe(true);
  expect(lines[0]?.[1].slice(prefix.length)).toMatch(/^[\da-f]{6} \(version 1\.0\.0\)$/);
  await app.work();
  expect(lines).toHaveLength(1);
});

test("a worker that started in an outage says so once the store is there", async () => {
  const store = new MemoryStore();
  const outage = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const migrate = vi.spyOn(store, "migrate").mockRejectedValueOnce(outage);
  const { app, lines } = replica(store);
  await app.work();
  const running = () => lines.filter(([, message]) => message.startsWith("running tasks as"));
  await vi.waitFor(() => expect(running()).toHaveLength(1), { timeout: 30_000 });
  expect(migrate.mock.calls.length).toBeGreaterThan(1);
});

test("a worker says from whom it takes a task over", async () => {
  const store = new MemoryStore();
  const { app, lines, start } = replica(store);
  const { id, callId } = await start();
  // This worker dies: it neither renews nor releases what it holds.
  const gone = { worker: "vm-9825-a05a4a@0.9.0", tools: ["deploy"], most: 1, leaseMs: 1 };
  expect((await store.claim(gone)).claimed).toHaveLength(1);
  await app.work();
  const taken = () => lines.filter(([, message]) => message.includes("taken over"));
  await vi.waitFor(() => expect(taken()).toHaveLength(1), { timeout: 30_000 });
  expect(taken()).toEqual([
    [
      "warn",
      "A task was taken over from vm-9825-a05a4a (version 0.9.0), whose lease had ended. It goes on from what was recorded.",
      { handler: "deploy", call: callId, task: `${id.slice(0, 6)}…`, from: gone.worker },
    ],
  ]);
});
