// What the example for Cloudflare does in workerd, driven by the official client: rounds, a task, an answer after days,
// a stream, cancellation, and a restart of the object.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "mcp-parley/client";
import { TaskClient } from "../../../examples/task-client.ts";
import { connectExtTasks } from "../../interop/ext-tasks.ts";
import type { ExtTasks } from "../../interop/ext-tasks.ts";

/** A server that keeps its storage when it is killed and started again. */
export interface Running {
  readonly url: string;
  /** Kills it and starts it again. Resolves to its new address. */
  readonly restart: () => Promise<Running>;
}

const dayMs = 24 * 3_600_000;
/** How long to wait for a state on a busy machine. */
const patienceMs = 120_000;

const said: Readonly<Record<string, unknown>> = { kind: "rye", loaves: 3, text: "Happy birthday" };

/** Answers what is asked, after `before`. */
const connected = (
  { url }: Running,
  before: () => Promise<void> = async () => {},
): Promise<ExtTasks> =>
  connectExtTasks({ url: new URL("/mcp", url).href }, async (request) => {
    await before();
    assert.ok(request.kind !== "roots");
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the example asks with forms
    const { properties } = request.params["requestedSchema"] as { properties: object };
    const content = Object.keys(properties).map((name) => [name, said[name]]);
    return { action: "accept", content: Object.fromEntries(content) };
  });

async function ask<T>({ url }: Running, path: string): Promise<T> {
  const response = await fetch(new URL(`/test/${path}`, url));
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what worker.ts serves
  return (await response.json()) as T;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It never happened that ${what}.`);
    await pause(50);
  }
}

/** Waits until the task sleeps for more than a day, and lets the days pass. */
async function passDays(running: Running): Promise<void> {
  await until("the task sleeps for days", async () => {
    const ms = await ask<number | null>(running, "due");
    return ms !== null && ms > dayMs;
  });
  await ask(running, `move?ms=${2 * dayMs}`);
}

const textIn = (outcome: unknown): string => JSON.stringify(outcome);

const cases: Readonly<Record<string, (running: Running) => Promise<Running>>> = {
  "a call of three rounds": async (running) => {
    const { session, received, close } = await connected(running);
    const execution = await session.callTool("order_bread", {});
    assert.equal(execution.kind, "immediate");
    const { outcome } = await execution.settle();
    assert.match(textIn(outcome), /3 × rye, order-/);
    assert.equal(received.filter(({ to }) => to === "tools/call").length, 3);
    await close();
    return running;
  },

  // It comes before the clock is moved, because a process that starts again has the right time.
  "a step that runs while the object is killed starts again by itself": async (running) => {
    await ask(running, "hold");
    const first = await connected(running);
    const execution = await first.session.callTool("hold", {});
    const reference = execution.serializeReference();
    await until("the step runs", async () => (await ask<number>(running, "starts")) === 1);
    await first.close();
    const again = await running.restart();
    // The alarm wakes the object, not a request of the client.
    await until("the step runs again", async () => (await ask<number>(again, "starts")) === 1);
    const { session, close } = await connected(again);
    const { outcome } = await (await session.resumeTask(reference)).settle();
    assert.match(textIn(outcome), /start 1/);
    await close();
    return again;
  },

  "a task whose answer comes after days, and that then sleeps for days": async (running) => {
    const { session, close } = await connected(running, () => ask(running, `move?ms=${3 * dayMs}`));
    const execution = await session.callTool("bake_cake", { flavour: "lemon" });
    assert.equal(execution.kind, "task");
    const settled = execution.settle();
    await passDays(running);
    const { outcome } = await settled;
    assert.match(textIn(outcome), /lemon-[\w-]+ says \\"Happy birthday\\"/);
    await close();
    return running;
  },

  "a task that rests for a moment": async (running) => {
    const { session, close } = await connected(running);
    const execution = await session.callTool("bake_cake", { flavour: "lemon", restMs: 500 });
    const { outcome } = await execution.settle();
    assert.match(textIn(outcome), /lemon-[\w-]+ says \\"Happy birthday\\"/);
    await close();
    return running;
  },

  "a task that streams, for one client after the other": async (running) => {
    for (let client = 0; client < 2; client += 1) {
      await ask(running, "hold");
      const server = await connect(new URL("/mcp", running.url).href);
      const call = server.start("report");
      let text = "";
      for await (const event of call) {
        if (event.type !== "part") continue;
        ({ text } = event.soFar);
        // The rest comes only when the client has the beginning.
        if (text === "One, ") await ask(running, "release");
      }
      assert.equal(text, "One, two.");
      assert.equal((await call.result()).text, "One, two.");
      await server.close();
    }
    return running;
  },

  "a task that is cancelled": async (running) => {
    const { session, close } = await connected(running);
    const execution = await session.callTool("bake_cake", { flavour: "nut" });
    await execution.cancel();
    const { outcome } = await execution.settle();
    assert.equal(outcome.status, "cancelled");
    await close();
    return running;
  },

  "a task that waits while the object is killed": async (running) => {
    const first = await connected(running);
    const execution = await first.session.callTool("bake_cake", { flavour: "plum" });
    const reference = execution.serializeReference();
    const { taskId = "" } = execution.handle ?? {};
    const client = new TaskClient({ url: new URL("/mcp", running.url).href });
    let asked = "";
    await until("the cake is baked", async () => {
      const { inputRequests = {} } = await client.task(taskId);
      asked = Object.values(inputRequests)[0]?.params.message ?? "";
      return asked !== "";
    });
    await first.close();
    const again = await running.restart();
    const { session, close } = await connected(again);
    const resumed = await session.resumeTask(reference);
    const settled = resumed.settle();
    await passDays(again);
    const { outcome } = await settled;
    // The same cake: the step did not run again.
    const [cake = "no cake"] = /plum-[\w-]+/.exec(asked) ?? [];
    assert.match(textIn(outcome), new RegExp(`${cake} says`));
    await close();
    return again;
  },

  "a step and a result over the row limit fail their tasks": async (running) => {
    const { session, close } = await connected(running);
    for (const name of ["large_step", "large_result"]) {
      const { outcome } = await (await session.callTool(name, {})).settle();
      assert.match(JSON.stringify(outcome), /log_too_large/);
    }
    await close();
    return running;
  },
};

/** Rejects when a case has had enough time. */
export async function tooLate(signal: AbortSignal): Promise<never> {
  await pause(2 * patienceMs, undefined, { signal });
  throw new Error(`It did not end within ${(2 * patienceMs) / 1000} s.`);
}

/** Runs the flow. Returns the server as it is in the end. Throws if a case fails. */
export async function flow(start: Running, say: (line: string) => void): Promise<Running> {
  let running = start;
  for (const [name, run] of Object.entries(cases)) {
    const late = new AbortController();
    running = await Promise.race([run(running), tooLate(late.signal)])
      .catch((cause: unknown) => {
        throw new Error(`Failed: ${name}.`, { cause });
      })
      .finally(() => late.abort());
    say(`  passed: ${name}`);
  }
  return running;
}
