// Two replicas on one Postgres, without affinity: any request may reach either of them.

import { postgresStore } from "mcp-parley/postgres";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../postgres/database.ts";
import type { Database } from "../postgres/database.ts";
import { oven } from "./oven.ts";
import type { Oven } from "./oven.ts";
import { accept, tokenIn } from "./post.ts";
import type { Incoming, To } from "./post.ts";
import { ask, begun, call, listen, taskIdIn, textOf, until } from "./task-calls.ts";

let postgres: Database;
let schemas = 0;

beforeAll(async () => {
  postgres = await freshDatabase();
});
afterAll(() => postgres.stop());

interface Replicas {
  readonly a: Oven;
  readonly b: Oven;
  /** Sends requests to each in turn. */
  readonly to: To;
}

/** Two instances that share a database and their keys, each with connections of its own. */
async function replicas(workers: readonly ("a" | "b")[] = ["a", "b"]): Promise<Replicas> {
  const schema = `replicas_${++schemas}`;
  const made = () => oven({ store: postgresStore(postgres.url, { schema, leaseMs: 3_000 }) });
  const both = { a: made(), b: made() };
  onTestFinished(async () => {
    for (const { app, store } of [both.a, both.b]) {
      await app.close();
      await store.close();
    }
  });
  for (const name of workers) await both[name].app.work();
  let requests = 0;
  const to = (request: Request) => {
    requests += 1;
    return (requests % 2 === 0 ? both.a : both.b).app.fetch(request);
  };
  return { ...both, to };
}

const rye = { loaf: "rye" };

describe("a call", () => {
  test("passes through all its phases, each request on another replica, each body once [S16] [S86] [S87]", async () => {
    const { a, b, to } = await replicas();
    const first = await call(to, "order", rye);
    const second = await call(to, "order", rye, {
      requestState: tokenIn(first),
      inputResponses: { sure: accept() },
    });
    const leg = {
      requestState: tokenIn(second),
      inputResponses: { name: accept({ name: "Ada" }) },
    };
    // Sent twice, to both at the same time.
    const [one, other] = await Promise.all([
      call(to, "order", rye, leg),
      call(to, "order", rye, leg),
    ]);
    const task = taskIdIn(one);
    expect(taskIdIn(other)).toBe(task);
    // A write through one replica can be read through the other.
    expect((await ask(to, "tasks/get", task)).result).toMatchObject({ taskId: task });
    await until(to, task, "input_required");
    await ask(to, "tasks/update", task, { inputResponses: { slices: accept({ slices: 9 }) } });
    expect((await ask(to, "tasks/get", task)).result?.["status"]).not.toBe("input_required");
    expect(textOf(await until(to, task, "completed"))).toBe("rye for Ada in 9 slices");
    expect([...a.ran, ...b.ran].toSorted()).toEqual(["bake", "price"]);
  });

  test("does not mix with many others at once [S15]", async () => {
    const { to } = await replicas();
    const loaves = Array.from({ length: 8 }, (_, n) => `loaf-${n}`);
    const texts = await Promise.all(
      loaves.map(async (loaf) => {
        const task = await begun(to, "bake", { loaf });
        await until(to, task, "input_required");
        await ask(to, "tasks/update", task, {
          inputResponses: { crust: accept({ crust: "thin" }) },
        });
        return textOf(await until(to, task, "completed"));
      }),
    );
    expect(texts).toEqual(loaves.map((loaf) => `${loaf} with a thin crust`));
  });

  test("accepts one of two answers on both replicas at once, and both are acknowledged [G11]", async () => {
    const { a, b, to } = await replicas();
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const answered = await Promise.all(
      [a, b].map(({ app }, n) =>
        ask(app, "tasks/update", task, { inputResponses: { one: accept({ one: `${n}` }) } }),
      ),
    );
    expect(answered.map(({ error }) => error)).toEqual([undefined, undefined]);
    await ask(to, "tasks/update", task, { inputResponses: { other: accept({ other: "x" }) } });
    expect(textOf(await until(to, task, "completed"))).toMatch(/^[01] and x$/);
  });

  test("stops its body on one replica when it is cancelled on the other [S97] [G17]", async () => {
    const { a, b } = await replicas(["b"]);
    const task = await begun(a.app, "proof");
    await expect.poll(() => b.ran).toEqual(["proof"]);
    await ask(a.app, "tasks/cancel", task);
    expect((await ask(b.app, "tasks/get", task)).result).toMatchObject({ status: "cancelled" });
    await expect.poll(() => b.stopped).toEqual(["Cancelled"]);
  });
});

describe("a subscriber", () => {
  test("a subscriber on one replica receives the changes on the other, and the end [S16] [S104]", async () => {
    const { a, b } = await replicas(["b"]);
    const task = await begun(b.app, "bake", rye);
    const stream = await listen(a.app, { taskIds: [task] });
    expect((await stream.next())?.params).toMatchObject({ notifications: { taskIds: [task] } });
    const heard: Incoming[] = [];
    do heard.push((await stream.next())!);
    while (heard.at(-1)?.params["status"] !== "input_required");
    await ask(b.app, "tasks/update", task, {
      inputResponses: { crust: accept({ crust: "thin" }) },
    });
    const rest = await stream.rest();
    expect(rest.at(-2)?.params).toMatchObject({ status: "completed", taskId: task });
    expect(rest.at(-1)?.result).toMatchObject({ resultType: "complete" });
  });

  test("subscribers on each replica receive the same [S77]", async () => {
    const { a, b } = await replicas(["a"]);
    const task = await begun(b.app, "two");
    await until(a.app, task, "input_required");
    const streams = await Promise.all([a, b].map(({ app }) => listen(app, { taskIds: [task] })));
    for (const stream of streams) {
      await stream.next();
      await stream.next();
    }
    await ask(b.app, "tasks/cancel", task);
    const [one, other] = await Promise.all(streams.map((stream) => stream.rest()));
    expect(one?.map(({ params }) => params?.["status"])).toEqual(["cancelled", undefined]);
    expect(other).toEqual(one);
  });
});

test.each(["a\u0000b", "\ud800", "' or 1=1 --", "täsk", "x".repeat(300), ""])(
  "an id that no task can have, %j, is unknown, and does not reach the database [S98] [D9]",
  async (taskId) => {
    const { a } = await replicas([]);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { error } = await ask(a.app, method, taskId, {
        inputResponses: {},
        ...(taskId === "\ud800" ? { headers: { "mcp-name": "=?base64?77+9?=" } } : {}),
      });
      expect(error?.code).toBeOneOf([-32602, -32020]);
      expect(error?.message).not.toMatch(/byte|encoding|UTF8/i);
    }
    const stream = await listen(a.app, { taskIds: [taskId] });
    expect((await stream.next())?.params["notifications"]).toEqual({});
    expect(a.logged.filter(({ level }) => level === "error")).toEqual([]);
  },
);

test("a lost database is an error without details, which are in the log, and nothing is pushed [D25]", async () => {
  const { a } = await replicas([]);
  const task = await begun(a.app, "two");
  await a.store.close();
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const { error } = await ask(a.app, method, task, { inputResponses: {} });
    expect(error).toEqual({
      code: -32603,
      message: "The task store cannot be reached at the moment. Nothing was lost; try again.",
      data: { reason: "store_unavailable" },
    });
  }
  expect(a.logged.filter(({ level }) => level === "error")).not.toEqual([]);
  const stream = await listen(a.app, { taskIds: [task] });
  const heard = await stream.rest();
  expect(heard[0]?.params["notifications"]).toEqual({});
  expect(heard.at(-1)?.result).toMatchObject({ resultType: "complete" });
});
