// `subscriptions/listen` with `taskIds`, over HTTP.

import { request } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { overEntry } from "../entry.ts";
import { CountingStore } from "./counting-store.ts";
import { oven } from "./oven.ts";
import { accept, envelope, exchange, post } from "./post.ts";
import type { Incoming } from "./post.ts";
import {
  ask,
  begun,
  call,
  extension,
  follows,
  listen,
  ovenHere,
  servedOven,
  stays,
  until,
} from "./task-calls.ts";

const subscription = (id: string | number) => ({ "io.modelcontextprotocol/subscriptionId": id });

const acknowledged = (notifications: object, id: string | number = "L") => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { notifications, _meta: subscription(id) },
});

const ended = (id: string | number = "L") => ({
  jsonrpc: "2.0",
  id,
  result: {
    resultType: "complete",
    _meta: {
      ...subscription(id),
      "io.modelcontextprotocol/serverInfo": { name: "oven", version: "1.0.0" },
    },
  },
});

const statuses = (heard: readonly Incoming[]) =>
  heard
    .filter(({ method }) => method === "notifications/tasks")
    .map(({ params }) => String(params["status"]));

test("a subscription is acknowledged first, sends each task's state, then every change, then ends [S73] [S74] [S76] [S104] [A13] [G1] [G27]", async () => {
  const { to } = await servedOven();
  const task = await begun(to, "bake", { loaf: "rye" });
  await until(to, task, "input_required");
  const stream = await listen(to, { taskIds: [task] });
  expect(await stream.next()).toStrictEqual(acknowledged({ taskIds: [task] }));
  const { resultType, _meta, ...asking } = await until(to, task, "input_required");
  expect(await stream.next()).toStrictEqual({
    jsonrpc: "2.0",
    method: "notifications/tasks",
    params: { ...asking, _meta: subscription("L") },
  });
  await ask(to, "tasks/update", task, { inputResponses: { crust: accept({ crust: "thin" }) } });
  const { resultType: _, _meta: __, ...done } = await until(to, task, "completed");
  const rest = await stream.rest();
  expect(rest.at(-2)).toStrictEqual({
    jsonrpc: "2.0",
    method: "notifications/tasks",
    params: { ...done, _meta: subscription("L") },
  });
  expect(rest.at(-1)).toStrictEqual(ended());
  expect(resultType).toBe("complete");
  expect(Object.keys(_meta as object)).toHaveLength(1);
});

test("a subscription has the headers of a stream, and is not buffered by proxies [S58]", async () => {
  const { to } = await ovenHere();
  const task = await begun(to, "weigh");
  await until(to, task, "completed");
  const message = envelope(
    "subscriptions/listen",
    { notifications: { taskIds: [task] } },
    { capabilities: follows },
  );
  const response = await post(to, message);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  await response.text();
});

test.each(["proof", "two"])(
  "each message is what tasks/get would return then, even for a cancelled task (%s) [S104]",
  async (tool) => {
    const { to } = await ovenHere();
    const task = await begun(to, tool);
    await until(to, task, tool === "two" ? "input_required" : "working");
    const stream = await listen(to, { taskIds: [task] });
    await stream.next();
    await stream.next();
    await ask(to, "tasks/cancel", task);
    const { result } = await ask(to, "tasks/get", task);
    const { resultType: _, ...cancelled } = result!;
    const heard = await stream.rest();
    expect(heard.map(({ params }) => params)).toStrictEqual([
      { ...cancelled, _meta: subscription("L") },
      undefined,
    ]);
  },
);

test("a task whose time is up is reported as failed, which ends the subscription [S107] [G15]", async () => {
  const clock = { now: Date.now() };
  const store = new CountingStore({ now: () => clock.now });
  const { to } = await ovenHere({ store });
  const task = await begun(to, "bake", { loaf: "rye" });
  await until(to, task, "input_required");
  const stream = await listen(to, { taskIds: [task] });
  await stream.next();
  await stream.next();
  // No sweep passes: a stream polls the revisions of its tasks.
  clock.now += 60_001;
  const heard = await stream.rest();
  expect(heard.map(({ params }) => params?.["error"])).toMatchObject([
    { code: -32603, data: { reason: "task_expired" } },
    undefined,
  ]);
});

test("a host that has parsed the body itself gets the same stream", async () => {
  const { app, to } = await ovenHere();
  const task = await begun(to, "weigh");
  await until(to, task, "completed");
  const stream = await listen(
    async (sent) => {
      const parsedBody: unknown = await sent.json();
      const { url, headers } = sent;
      return app.handle(new Request(url, { method: "POST", headers }), { parsedBody });
    },
    { taskIds: [task] },
  );
  expect(statuses(await stream.rest())).toEqual(["completed"]);
});

describe("the ids", () => {
  test("ids of unknown tasks are left out without a message [S73] [G27]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    const taskIds = ["nobodys", task, "", "../../etc/passwd", "ü\u0000", "x".repeat(100_000)];
    const stream = await listen(to, { taskIds });
    expect(await stream.next()).toStrictEqual(acknowledged({ taskIds: [task] }));
    await stream.hangUp();
  });

  test.each([
    ["none of them is known", ["nobodys", "either"]],
    ["there are none", []],
    ["they are not strings", [1, null, {}, ["x"]]],
    ["they are not a list", "nobodys"],
    ["they are an object", { 0: "x", length: 1 }],
  ])(
    "ids are left out if %s, and the subscription is acknowledged and ends [S73] [S76] [G27]",
    async (_, taskIds) => {
      const { to } = await ovenHere();
      const stream = await listen(to, { taskIds });
      expect(await stream.rest()).toStrictEqual([acknowledged({}), ended()]);
    },
  );

  test("ids that come twice count once [G27]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "weigh");
    await until(to, task, "completed");
    const stream = await listen(to, { taskIds: [task, task, task] });
    const heard = await stream.rest();
    expect(heard[0]).toStrictEqual(acknowledged({ taskIds: [task] }));
    expect(statuses(heard)).toEqual(["completed"]);
  });

  test("only the first 200 of 10 000 ids count, and only tasks of the caller are read [D23] [G27]", async () => {
    const store = new CountingStore();
    const { to } = await ovenHere({ store });
    const [first, last] = [await begun(to, "weigh"), await begun(to, "weigh")];
    await until(to, first, "completed");
    await until(to, last, "completed");
    const nobodys = Array.from({ length: 9_998 }, (_, n) => `nobodys-${n}`);
    const reads = store.reads;
    const stream = await listen(to, { taskIds: [first, ...nobodys, last] });
    const heard = await stream.rest();
    expect(heard[0]).toStrictEqual(acknowledged({ taskIds: [first] }));
    expect(store.reads - reads).toBe(1);
  });

  test("the limit can be changed [D23]", async () => {
    const { to } = await ovenHere({ limits: { subscriptionTasks: 1 } });
    const [first, last] = [await begun(to, "two"), await begun(to, "two")];
    const stream = await listen(to, { taskIds: [first, last] });
    expect(await stream.next()).toStrictEqual(acknowledged({ taskIds: [first] }));
    await stream.hangUp();
  });

  test("a hundred tasks are followed in one subscription [S77]", async () => {
    const { to } = await ovenHere();
    const taskIds: string[] = [];
    for (let n = 0; n < 100; n += 1) taskIds.push(await begun(to, "weigh"));
    const stream = await listen(to, { taskIds });
    const heard = await stream.rest();
    const ends = heard.filter(({ params }) => params?.["status"] === "completed");
    expect(ends).toHaveLength(100);
    expect(new Set(ends.map(({ params }) => params["taskId"]))).toEqual(new Set(taskIds));
  });
});

describe("without the capability", () => {
  test.each([[["nobodys"]], [[]], [["own"]], ["nobodys"]])(
    "taskIds %j are -32021, and 400 [S99] [A15]",
    async (taskIds) => {
      const { to } = await servedOven();
      const task = await begun(to, "two");
      const ids = taskIds[0] === "own" ? [task] : taskIds;
      const { status, error } = await exchange(
        to,
        envelope(
          "subscriptions/listen",
          { notifications: { taskIds: ids, toolsListChanged: true } },
          { id: 7, capabilities: stays },
        ),
      );
      expect([status, error]).toMatchObject([
        400,
        { code: -32021, data: { requiredCapabilities: { extensions: { [extension]: {} } } } },
      ]);
    },
  );

  test("a request that is wrong in another way gets that error first [G8]", async () => {
    const { to } = await ovenHere();
    const message = envelope(
      "subscriptions/listen",
      { notifications: { taskIds: ["x"] } },
      { meta: { "io.modelcontextprotocol/clientCapabilities": undefined } },
    );
    const { status, error } = await exchange(to, message);
    expect([status, error?.code]).toEqual([400, -32602]);
    const filter = { taskIds: ["x"], toolsListChanged: "yes" };
    const wrong = envelope("subscriptions/listen", { notifications: filter });
    expect((await exchange(to, wrong)).error?.code).toBe(-32602);
  });

  test("a subscription without tasks does not need the capability [S75]", async () => {
    const { to } = await ovenHere();
    const stream = await listen(to, { toolsListChanged: true }, { capabilities: stays });
    expect(await stream.next()).toStrictEqual(acknowledged({ toolsListChanged: true }));
    await stream.hangUp();
  });
});

describe("together with other kinds", () => {
  test("both are sent; the subscription stays open when the tasks are over, and ends with the server [S75] [S76] [G27]", async () => {
    const { app, to, done } = await ovenHere();
    const task = await begun(to, "rise");
    const stream = await listen(to, { taskIds: [task], toolsListChanged: true });
    expect(await stream.next()).toStrictEqual(
      acknowledged({ toolsListChanged: true, taskIds: [task] }),
    );
    expect((await stream.next())?.method).toBe("notifications/tasks");
    const changed = {
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      params: { _meta: subscription("L") },
    };
    app.notify.toolsChanged();
    expect(await stream.next()).toStrictEqual(changed);
    done.resolve();
    await expect.poll(async () => (await stream.next())?.params["status"]).toBe("completed");
    app.notify.toolsChanged();
    expect(await stream.next()).toStrictEqual(changed);
    await app.close();
    expect(await stream.rest()).toStrictEqual([ended()]);
  });

  test("the subscription also ends with the server while the tasks go on [S76]", async () => {
    const { app, to } = await ovenHere();
    const task = await begun(to, "two");
    const stream = await listen(to, { taskIds: [task], toolsListChanged: true });
    await stream.next();
    await app.close();
    const heard = await stream.rest();
    expect(heard.at(-1)).toStrictEqual(ended());
  });

  test.each([{ toolsListChanged: false }, { resourceSubscriptions: [] }])(
    "a kind that was not requested, %j, does not keep it open [S75] [G27]",
    async (more) => {
      const { to } = await ovenHere();
      const task = await begun(to, "weigh");
      await until(to, task, "completed");
      const stream = await listen(to, { taskIds: [task], ...more });
      const heard = await stream.rest();
      expect(heard[0]).toStrictEqual(acknowledged({ taskIds: [task] }));
      expect(heard.at(-1)).toStrictEqual(ended());
    },
  );

  test("a subscription to tasks alone gets no other changes [S75]", async () => {
    const { app, to, done } = await ovenHere();
    const task = await begun(to, "rise");
    const stream = await listen(to, { taskIds: [task] });
    await stream.next();
    app.notify.toolsChanged();
    app.notify.resourcesChanged();
    done.resolve();
    const methods = (await stream.rest()).map(({ method }) => method);
    expect(new Set(methods)).toEqual(new Set(["notifications/tasks", undefined]));
  });
});

describe("several at once", () => {
  test("each has its own tasks, its own id and its own end [S77] [S74] [G40] [G42]", async () => {
    const { to } = await ovenHere();
    const [one, other] = [await begun(to, "two"), await begun(to, "two")];
    await until(to, one, "input_required");
    await until(to, other, "input_required");
    const first = await listen(to, { taskIds: [one] }, { id: 0 });
    const second = await listen(to, { taskIds: [other] }, { id: "0" });
    const both = await listen(to, { taskIds: [one, other] }, { id: 0 });
    await ask(to, "tasks/cancel", one);
    const heard = await first.rest();
    expect(heard.at(-1)).toStrictEqual(ended(0));
    expect(new Set(heard.map(({ params }) => params?.["taskId"] ?? one))).toEqual(new Set([one]));
    await ask(to, "tasks/cancel", other);
    const heardLater = await second.rest();
    expect(heardLater.at(-1)).toStrictEqual(ended("0"));
    expect(statuses(heardLater)).toEqual(["input_required", "cancelled"]);
    const all = await both.rest();
    expect(all.at(-1)).toStrictEqual(ended(0));
    expect(statuses(all).toSorted()).toEqual([
      "cancelled",
      "cancelled",
      "input_required",
      "input_required",
    ]);
    for (const { params } of all.slice(0, -1)) {
      expect(params["_meta"]).toStrictEqual(subscription(0));
    }
  });
});

test("if there are too many, the next is refused, and served when one has ended [D23]", async () => {
  const { to } = await ovenHere();
  const task = await begun(to, "two");
  const open = (id: number) => listen(to, { taskIds: [task] }, { id });
  const streams = await Promise.all(Array.from({ length: 1_024 }, (_, n) => open(n)));
  const message = envelope(
    "subscriptions/listen",
    { notifications: { taskIds: [task] } },
    { capabilities: follows },
  );
  expect((await exchange(to, message)).error).toMatchObject({ code: -32603 });
  await streams[0]?.hangUp();
  const next = await open(1_024);
  expect(await next.next()).toStrictEqual(acknowledged({ taskIds: [task] }, 1_024));
});

describe("a client that reads slowly", () => {
  const wholes = 30;

  /** An oven with tasks that are larger than what is sent ahead of a reader. */
  async function fullOven() {
    const store = new CountingStore();
    const { app, to } = await ovenHere({ store });
    app.tool("fill", { task: "required" }, async (ctx) => {
      await ctx.background();
      return "x".repeat(200_000);
    });
    const taskIds: string[] = [];
    for (let n = 0; n < wholes; n += 1) taskIds.push(await begun(to, "fill"));
    for (const task of taskIds) await until(to, task, "completed");
    return { store, to, taskIds };
  }

  test("makes the server read one task at a time, not all of them [D23]", async () => {
    const { store, to, taskIds } = await fullOven();
    const before = store.reads;
    const slow = await listen(to, { taskIds }, { id: "slow" });
    expect(await slow.next()).toStrictEqual(acknowledged({ taskIds }, "slow"));
    // While this one reads everything, the server has had the time to do so for the other.
    const quick = await listen(to, { taskIds });
    expect(statuses(await quick.rest())).toHaveLength(wholes);
    expect(store.reads - before - wholes).toBeLessThan(5);
    expect(statuses(await slow.rest())).toHaveLength(wholes);
  });

  test("does not make the server read many tasks at the same time, however many streams it opens [D23]", async () => {
    const { store, to, taskIds } = await fullOven();
    store.mostReadsAtOnce = 0;
    const streams = await Promise.all(
      taskIds.map((task, id) => listen(to, { taskIds: [task] }, { id })),
    );
    await Promise.all(streams.map((stream) => stream.rest()));
    expect(store.mostReadsAtOnce).toBeGreaterThan(0);
    expect(store.mostReadsAtOnce).toBeLessThanOrEqual(8);
  });
});

describe("changes in quick succession", () => {
  test("share a message, and the last is sent at once [G28]", async () => {
    const { app, to } = await ovenHere();
    app.tool("chatter", { task: "required" }, async (ctx) => {
      await ctx.background();
      for (let n = 0; n < 20; n += 1) {
        await ctx.ask(`q${n}`, "?", undefined, { timeoutMs: 1 }).catch(() => {});
      }
      return "said";
    });
    const task = await begun(to, "chatter");
    const began = performance.now();
    const stream = await listen(to, { taskIds: [task] });
    const heard = statuses(await stream.rest());
    expect(heard.at(-1)).toBe("completed");
    // Twenty questions, each asked and withdrawn, make some forty changes. However long they take, at most five a second
    // are sent, and the first and the last.
    const seconds = (performance.now() - began) / 1_000;
    expect(heard.length).toBeLessThan(Math.max(12, 5 * seconds + 3));
  });

  test("do not delay the end [G28]", async () => {
    const { to } = await ovenHere();
    const took: number[] = [];
    // A change that is held back takes 200 ms every time. Any other can take as long on a busy machine, but not every time.
    while (took.length < 20 && !took.some((ms) => ms < 150)) {
      const task = await begun(to, "two");
      await until(to, task, "input_required");
      const stream = await listen(to, { taskIds: [task] });
      await stream.next();
      await stream.next();
      const began = performance.now();
      await ask(to, "tasks/cancel", task);
      const heard = await stream.rest();
      expect(statuses(heard)).toEqual(["cancelled"]);
      took.push(performance.now() - began);
    }
    expect(Math.min(...took)).toBeLessThan(150);
  });
});

describe("nothing is left behind", () => {
  test.each(["tasks alone", "tasks and others"])(
    "a client that disconnects leaves nothing, subscribed to %s",
    async (which) => {
      const store = new CountingStore();
      const { to } = await ovenHere({ store });
      const task = await begun(to, "two");
      await until(to, task, "input_required");
      const before = store.listeners;
      const more = which === "tasks alone" ? {} : { toolsListChanged: true };
      const streams = await Promise.all([
        listen(to, { taskIds: [task], ...more }, { id: 1 }),
        listen(to, { taskIds: [task], ...more }, { id: 2 }),
      ]);
      for (const stream of streams) expect((await stream.next())?.params).toBeDefined();
      for (const stream of streams) await stream.next();
      expect(store.listeners).toBe(before + 1);
      await streams[0].hangUp();
      await ask(to, "tasks/update", task, { inputResponses: { one: accept({ one: "1" }) } });
      expect((await streams[1].next())?.params["inputRequests"]).not.toHaveProperty("one");
      expect(store.listeners).toBe(before + 1);
      await streams[1].hangUp();
      await expect.poll(() => store.listeners).toBe(before);
    },
  );

  test.each(["tasks alone", "tasks and others"])(
    "a request whose signal aborts leaves nothing, subscribed to %s",
    async (which) => {
      const store = new CountingStore();
      const { to } = await ovenHere({ store });
      const task = await begun(to, "two");
      const before = store.listeners;
      const gone = new AbortController();
      const more = which === "tasks alone" ? {} : { toolsListChanged: true };
      const stream = await listen(to, { taskIds: [task], ...more }, { signal: gone.signal });
      await stream.next();
      await stream.next();
      gone.abort();
      await expect.poll(() => store.listeners).toBe(before);
    },
  );

  test("a connection that breaks leaves nothing", async () => {
    const store = new CountingStore();
    const { app } = oven({ store });
    const { url } = await app.listen(0, overEntry());
    onTestFinished(() => app.close());
    const task = await begun(url, "two");
    const before = store.listeners;
    const message = envelope(
      "subscriptions/listen",
      { notifications: { taskIds: [task] } },
      { capabilities: follows },
    );
    await new Promise<void>((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      };
      const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
        response.once("data", () => {
          expect(store.listeners).toBeGreaterThanOrEqual(before);
          response.destroy();
          resolve();
        });
        response.on("error", () => {});
      });
      sent.on("error", reject);
      sent.end(JSON.stringify(message));
    });
    await expect.poll(() => store.listeners).toBe(before);
  });

  test("subscriptions whose tasks are over leave nothing", async () => {
    const store = new CountingStore();
    const { to } = await ovenHere({ store });
    const task = await begun(to, "two");
    const before = store.listeners;
    const stream = await listen(to, { taskIds: [task], toolsListChanged: true });
    await stream.next();
    await stream.next();
    await ask(to, "tasks/cancel", task);
    await expect.poll(() => store.listeners).toBe(before);
    await stream.hangUp();
  });

  test("open streams get a last message when the app closes, and end at once [S76]", async () => {
    const store = new CountingStore();
    const { app, to } = await servedOven({ store });
    const task = await begun(to, "two");
    await until(to, task, "input_required");
    const alone = await listen(to, { taskIds: [task] });
    const mixed = await listen(to, { taskIds: [task], toolsListChanged: true }, { id: 2 });
    for (const stream of [alone, mixed]) {
      await stream.next();
      await stream.next();
    }
    const began = performance.now();
    const closed = app.close();
    expect(await alone.rest()).toStrictEqual([ended()]);
    expect(await mixed.rest()).toStrictEqual([ended(2)]);
    await closed;
    // A request that the server waited for would have had ten seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(store.listeners).toBe(0);
  });
});

test("a change from before the subscription is in the first message [G27]", async () => {
  const { to } = await ovenHere();
  const { result } = await call(to, "weigh");
  const task = result?.["taskId"] as string;
  await until(to, task, "completed");
  const stream = await listen(to, { taskIds: [task] });
  expect(statuses(await stream.rest())).toEqual(["completed"]);
});
