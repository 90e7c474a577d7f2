// `subscriptions/listen` with `taskIds`, over standard input and output.

import { describe, expect, test } from "vitest";
import { CountingStore } from "./counting-store.ts";
import { accept, envelope } from "./post.ts";
import type { Envelope, Incoming } from "./post.ts";
import { stdioHere } from "./stdio-here.ts";
import type { StdioHere } from "./stdio-here.ts";
import { started } from "./stdio-process.ts";
import { extension, follows, stays } from "./task-calls.ts";

const subscription = (id: string | number) => ({ "io.modelcontextprotocol/subscriptionId": id });

const acknowledged = (notifications: object, id: string | number = "L") => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { notifications, _meta: subscription(id) },
});

const cancelled = (id: string | number = "L") => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId: id, reason: "All tasks are over.", _meta: subscription(id) },
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

const listening = (notifications: unknown, { id = "L", capabilities = follows }: Envelope = {}) =>
  envelope("subscriptions/listen", { notifications }, { id, capabilities });

async function begun({ ask }: Pick<StdioHere, "ask">, name: string, args = {}): Promise<string> {
  const heard = await ask("tools/call", { name, arguments: args });
  const id = heard.at(-1)?.result?.["taskId"];
  if (typeof id !== "string")
    throw new Error(`The call did not become a task: ${JSON.stringify(heard)}`);
  return id;
}

/** The next line about a task with this status. */
async function told({ next }: Pick<StdioHere, "next">, status: string): Promise<Incoming> {
  for (;;) {
    const line = await next();
    if (line.method !== "notifications/tasks") throw new Error(`It said ${JSON.stringify(line)}`);
    if (line.params["status"] === status) return line;
  }
}

test("a subscription is acknowledged first, sends each task's state, then every change, then ends [S73] [S74] [S76] [S104] [A13] [G1] [G27]", async () => {
  const here = await stdioHere();
  const task = await begun(here, "bake", { loaf: "rye" });
  here.send(listening({ taskIds: [task, "nobodys"] }));
  expect(await here.next()).toStrictEqual(acknowledged({ taskIds: [task] }));
  const asking = await told(here, "input_required");
  expect(asking.params).toMatchObject({ taskId: task, _meta: subscription("L") });
  expect(asking.params).not.toHaveProperty("resultType");
  const inputResponses = { crust: accept({ crust: "thin" }) };
  here.send(envelope("tasks/update", { taskId: task, inputResponses }, { capabilities: follows }));
  const rest: Incoming[] = [];
  do rest.push(await here.next());
  while (rest.at(-1)?.method !== "notifications/cancelled");
  const statuses = rest.flatMap(({ params }) => params?.["status"] ?? []);
  expect(statuses.at(-1)).toBe("completed");
  expect(rest.at(-1)).toStrictEqual(cancelled());
  expect(await here.next()).toStrictEqual(ended());
  // Nothing else was sent.
  expect(await here.ask("tools/list")).toHaveLength(1);
});

test.each([
  ["none of them is known", { taskIds: ["nobodys"] }],
  ["there are none", { taskIds: [] }],
  ["they are not strings", { taskIds: [1, null] }],
  ["they are not a list", { taskIds: "nobodys" }],
])(
  "task ids are left out if %s, and the subscription is acknowledged and ends [S73] [S76] [G27]",
  async (_, filter) => {
    const here = await stdioHere();
    here.send(listening(filter));
    expect(await here.next()).toStrictEqual(acknowledged({}));
    expect(await here.next()).toStrictEqual(cancelled());
    expect(await here.next()).toStrictEqual(ended());
  },
);

test.each([{ toolsListChanged: false }, { resourceSubscriptions: [] }])(
  "a kind that was not requested, %j, does not keep it open [S75] [G27]",
  async (more) => {
    const here = await stdioHere();
    const task = await begun(here, "weigh");
    here.send(listening({ taskIds: [task], ...more }));
    expect(await here.next()).toStrictEqual(acknowledged({ taskIds: [task] }));
    await told(here, "completed");
    expect(await here.next()).toStrictEqual(cancelled());
    expect(await here.next()).toStrictEqual(ended());
  },
);

test("tasks and other kinds are both sent, and it stays open when the tasks are over [S75] [G27]", async () => {
  const here = await stdioHere();
  const task = await begun(here, "rise");
  here.send(listening({ taskIds: [task], toolsListChanged: true }));
  expect(await here.next()).toStrictEqual(
    acknowledged({ toolsListChanged: true, taskIds: [task] }),
  );
  await told(here, "working");
  const changed = {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: subscription("L") },
  };
  here.server()?.sendToolListChanged();
  expect(await here.next()).toStrictEqual(changed);
  here.done.resolve();
  await told(here, "completed");
  here.server()?.sendToolListChanged();
  expect(await here.next()).toStrictEqual(changed);
  const closed = here.close();
  expect(await here.next()).toStrictEqual(ended());
  await closed;
});

test("several at once each have their own tasks, ids and ends [S77] [S74] [G40]", async () => {
  const here = await stdioHere();
  const [one, other] = [await begun(here, "two"), await begun(here, "two")];
  const heard: Incoming[] = [];
  const until = async (isIt: (line: Incoming) => boolean) => {
    do heard.push(await here.next());
    while (!isIt(heard.at(-1)!));
  };
  const asks = (id: string | number) => (line: Incoming) =>
    line.params?.["status"] === "input_required" &&
    (line.params["_meta"] as Record<string, unknown>)["io.modelcontextprotocol/subscriptionId"] ===
      id;
  here.send(listening({ taskIds: [one] }, { id: 0 }));
  await until(asks(0));
  here.send(listening({ taskIds: [other] }, { id: "0" }));
  await until(asks("0"));
  const cancel = (taskId: string) =>
    envelope("tasks/cancel", { taskId }, { id: taskId, capabilities: follows });
  here.send(cancel(one));
  await until(({ id }) => id === 0);
  expect(heard.at(-1)).toStrictEqual(ended(0));
  here.send(cancel(other));
  await until(({ id }) => id === "0");
  expect(heard.at(-1)).toStrictEqual(ended("0"));
  const of = (id: string | number) =>
    heard
      .filter(
        ({ params }) =>
          (params?.["_meta"] as Record<string, unknown>)?.[
            "io.modelcontextprotocol/subscriptionId"
          ] === id,
      )
      .flatMap(({ params }) => params["taskId"] ?? []);
  expect(new Set(of(0))).toEqual(new Set([one]));
  expect(new Set(of("0"))).toEqual(new Set([other]));
});

describe("without the capability", () => {
  test.each([[["nobodys"]], [[]], ["nobodys"]])(
    "taskIds %j are -32021, and nothing is subscribed to [S99] [A15]",
    async (taskIds) => {
      const here = await stdioHere();
      here.send(listening({ taskIds, toolsListChanged: true }, { capabilities: stays }));
      expect(await here.next()).toMatchObject({
        id: "L",
        error: {
          code: -32021,
          data: { requiredCapabilities: { extensions: { [extension]: {} } } },
        },
      });
      expect(await here.ask("tools/list")).toHaveLength(1);
      here.server()?.sendToolListChanged();
      expect(await here.ask("tools/list")).toHaveLength(1);
    },
  );

  test("a request that is wrong in another way gets that error first, from any client [G8]", async () => {
    const here = await stdioHere();
    const task = await begun(here, "two");
    for (const capabilities of [stays, follows]) {
      const filter = { taskIds: [task], toolsListChanged: "yes" };
      here.send(listening(filter, { capabilities }));
      expect(await here.next()).toMatchObject({ id: "L", error: { code: -32602 } });
      const versionless = listening({ taskIds: [task] }, { capabilities });
      const _meta = { ...(versionless.params["_meta"] as object) };
      Object.assign(_meta, { "io.modelcontextprotocol/protocolVersion": "2099-01-01" });
      here.send({ ...versionless, params: { ...versionless.params, _meta } });
      expect(await here.next()).toMatchObject({ id: "L", error: { code: -32022 } });
    }
    // The id can be used again.
    here.send(listening({ taskIds: [task] }));
    expect(await here.next()).toStrictEqual(acknowledged({ taskIds: [task] }));
  });

  test("a 2025-11-25 client learns that there is no such method [S103] [E2.1]", async () => {
    const here = await stdioHere();
    here.send({
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { extensions: { [extension]: {} } },
        clientInfo: { name: "by hand", version: "1.0.0" },
      },
    });
    await here.next();
    const params = { notifications: { taskIds: ["x"] } };
    here.send({ id: 2, method: "subscriptions/listen", params });
    expect(await here.next()).toMatchObject({ id: 2, error: { code: -32601 } });
    here.send({ id: 3, method: "tasks/update", params: { taskId: "x", inputResponses: {} } });
    expect(await here.next()).toMatchObject({ id: 3, error: { code: -32601 } });
  });
});

describe("nothing is left behind", () => {
  async function followed() {
    const store = new CountingStore();
    const here = await stdioHere({ store });
    const task = await begun(here, "two");
    const before = store.listeners;
    return { store, here, task, before };
  }

  test("a cancelled subscription leaves nothing: nothing more comes, and it gets no response [S66]", async () => {
    const { store, here, task, before } = await followed();
    here.send(listening({ taskIds: [task], toolsListChanged: true }));
    await here.next();
    await told(here, "input_required");
    expect(store.listeners).toBe(before + 1);
    const { _meta } = envelope("x").params;
    here.send({ method: "notifications/cancelled", params: { requestId: "L", _meta } });
    await expect.poll(() => store.listeners).toBe(before);
    here.server()?.sendToolListChanged();
    const heard = await here.ask("tasks/cancel", { taskId: task });
    expect(heard).toHaveLength(1);
  });

  test("a subscription that is cancelled at once leaves nothing [S66]", async () => {
    const { store, here, task, before } = await followed();
    const { _meta } = envelope("x").params;
    here.send(listening({ taskIds: [task] }));
    here.send({ method: "notifications/cancelled", params: { requestId: "L", _meta } });
    const heard = await here.ask("tasks/cancel", { taskId: task });
    expect(heard.filter(({ method }) => method === "notifications/tasks")).toEqual([]);
    expect(store.listeners).toBe(before);
  });

  test("a subscription whose id is used again while it is open leaves nothing", async () => {
    const { store, here, task, before } = await followed();
    here.send(listening({ taskIds: [task] }));
    await here.next();
    await told(here, "input_required");
    here.send(listening({ taskIds: [task] }));
    await here.next();
    const { _meta } = envelope("x").params;
    here.send({ method: "notifications/cancelled", params: { requestId: "L", _meta } });
    await expect.poll(() => store.listeners).toBe(before);
  });

  test("a client that disconnects leaves nothing", async () => {
    const { store, here, task, before } = await followed();
    here.send(listening({ taskIds: [task] }));
    await here.next();
    await told(here, "input_required");
    here.hangUp();
    await expect.poll(() => store.listeners).toBe(before);
  });

  test("a server that ends leaves nothing, and the client learns of it [S76]", async () => {
    const { store, here, task, before } = await followed();
    here.send(listening({ taskIds: [task] }));
    await here.next();
    await told(here, "input_required");
    const closed = here.close();
    expect(await here.next()).toStrictEqual(ended());
    await closed;
    expect(store.listeners).toBe(before);
  });
});

test("in a separate process, app.stdio serves a call, a question in its task, and its end by push [S74] [S76] [S110]", async () => {
  const { send, next } = started(new URL("stdio-oven.ts", import.meta.url));
  const own = { capabilities: follows };
  const name = "bake";
  send(envelope("tools/call", { name, arguments: { loaf: "rye" } }, { ...own, id: 1 }));
  const created = await next();
  expect(created.result).toMatchObject({ resultType: "task", status: "working" });
  const taskId = created.result?.["taskId"];
  // The request is over, so cancelling it has no effect.
  const { _meta } = envelope("x").params;
  send({ method: "notifications/cancelled", params: { requestId: 1, _meta } });
  send(
    envelope("subscriptions/listen", { notifications: { taskIds: [taskId] } }, { ...own, id: 2 }),
  );
  expect(await next()).toStrictEqual(acknowledged({ taskIds: [taskId] }, 2));
  let line = await next();
  while (line.params?.["status"] === "working") line = await next();
  expect(line.params).toMatchObject({ status: "input_required", _meta: subscription(2) });
  const inputResponses = { crust: accept({ crust: "thick" }) };
  send(envelope("tasks/update", { taskId, inputResponses }, { ...own, id: 3 }));
  const seen: unknown[] = [];
  do {
    line = await next();
    seen.push(line.params?.["status"] ?? line.method ?? line.id);
  } while (line.id !== 2);
  expect(line).toStrictEqual(ended(2));
  expect(seen.slice(-3)).toEqual(["completed", "notifications/cancelled", 2]);
  expect(seen).toContain(3);
});
