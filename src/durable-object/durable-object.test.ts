// What can be tested of the Durable Object store without its platform. `npm run test:runtime -- workerd` tests the rest.

import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { durableObjectStore, taskObject } from "mcp-parley/durable-object";
import { expect, test } from "vitest";
import { callTool } from "../../test/wire/post.ts";
import { recordTooLarge } from "../tasks/limits.ts";
import type { NewDecision } from "../tasks/approval-store.ts";
import type { RoundClaimRequest, TaskStore } from "../tasks/store.ts";
import type { NewTask } from "../tasks/task.ts";
import { operations } from "./operations.ts";

const canFollowTasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** A binding whose object answers with this. */
function binding(call: (operation: string, args: readonly unknown[]) => Promise<unknown>) {
  return { idFromName: (name: string) => name, get: () => ({ parley: call }) };
}

/** A store, and the names of the objects that it has called. */
function shards(objectFor?: (principal: string | undefined) => string) {
  const names = new Set<string>();
  const namespace = {
    idFromName: (name: string) => names.add(name),
    get: () => ({ parley: async () => ({ value: new Map() }) }),
  };
  const store = durableObjectStore(() => namespace, { objectFor }) as TaskStore;
  return { names, store };
}

test("each operation of a Worker is a call of the object", async () => {
  const calls: string[] = [];
  const namespace = binding(async (operation, args) => {
    calls.push(operation);
    return { value: args };
  });
  const store = durableObjectStore(() => namespace) as TaskStore;
  for (const operation of operations) {
    const [name = "", member] = operation.split(".");
    const group: unknown = Reflect.get(store, name);
    const does: unknown = member === undefined ? group : Reflect.get(Object(group), member);
    if (operation !== "figures")
      expect(await Reflect.apply(does as () => unknown, store, [1])).toEqual([1]);
    else await store.figures();
  }
  expect(calls).toEqual(operations);
});

test("without objectFor one object keeps everything, and ids stay as they are", async () => {
  const { names, store } = shards();
  await store.read("task@0123456789abcdef");
  await store.usage("ann");
  expect([...names]).toEqual(["parley"]);
  expect(store.idFor).toBeUndefined();
});

test("with objectFor, an id leads to the object of the caller it was made for", async () => {
  const { names, store } = shards((principal) => `tenant of ${principal ?? "nobody"}`);
  const id = store.idFor?.("task", "ann") ?? "";
  expect(id).toMatch(/^task@[\w-]{16}$/);
  expect(store.idFor?.("call", "ann")).toBe(id.replace("task", "call"));
  expect(store.idFor?.("task", "bob")).not.toBe(id);
  const object = id.replace("task@", "parley/");
  const ref = { id, epoch: 1 };
  const calls: readonly (() => unknown)[] = [
    () => store.read(id),
    () => store.create({ id } as NewTask, 1),
    () => store.claimRound({ callId: id } as RoundClaimRequest),
    () => store.endRound(ref, ""),
    () => store.spilled(`${id}.mail.question`),
    () => store.list({ principal: "ann", after: undefined, limit: 1 }),
    () => store.usage("ann"),
    () => store.countEnded?.("ann"),
    () => store.countSpilled("ann", "pause."),
    () => store.noteRead([id]),
    () => store.revisions([id], "ann"),
    () => store.approvals?.decide(id, "key", {} as NewDecision),
    () => store.accounts?.read({ server: "s", provider: "p", principal: "ann" }),
    () => store.audit?.readChain(id),
  ];
  for (const call of calls) {
    names.clear();
    await call();
    expect({ call: String(call), objects: [...names] }).toEqual({
      call: String(call),
      objects: [object],
    });
  }
});

test("with objectFor, an id from the time before leads to the one object of that time", async () => {
  const { names, store } = shards(() => "tenant");
  await store.read("0123456789abcdef0123456789abcdef");
  await store.audit?.tail("~2026-08-01/0123456789abcdef", []);
  await store.figures();
  expect([...names]).toEqual(["parley"]);
});

test("with objectFor, the ids that a client names wake no object of another caller", async () => {
  const { names, store } = shards((principal) => principal ?? "");
  const own = store.idFor?.("task", "ann") ?? "";
  const others = ["bob", "cy", "dee"].map((one) => store.idFor?.("task", one) ?? "");
  await store.revisions([own, ...others, "untagged"], "ann");
  expect([...names].toSorted()).toEqual(["parley", own.replace("task@", "parley/")]);
});

test("with objectFor, what is in all objects cannot be listed", async () => {
  const { store } = shards(() => "tenant");
  expect(store.reader).toBeUndefined();
  await expect(store.audit?.readAfter(undefined, 9)).rejects.toThrow(
    "With objectFor, the audit of all objects cannot be listed. Read it call by call.",
  );
});

test.each([
  [undefined, "undefined"],
  ["", "an empty text"],
  [Promise.resolve("tenant"), "a promise"],
])("an objectFor that returns %j is refused", async (name, shown) => {
  const { store } = shards(() => name as string);
  const message = `durableObjectStore: objectFor returns the name of an object, such as "tenant-7", but returned ${shown}.`;
  expect(() => store.idFor?.("task", "ann")).toThrow(message);
  await expect(store.usage("ann")).rejects.toThrow(message);
});

test("a Worker claims nothing, because the object runs the tasks", async () => {
  const store = durableObjectStore(() =>
    binding(() => Promise.reject(new Error("not called"))),
  ) as TaskStore;
  const claim = { worker: "w", tools: ["tool"], most: 9, leaseMs: 1 };
  expect(await store.claim(claim)).toMatchObject({ claimed: [], nextDueAt: undefined });
  expect(await store.sweep(9, 9)).toMatchObject({ removed: 0, isMore: false });
});

test("an error of the object keeps its code", async () => {
  const refused = { code: "log_too_large", message: "too large" };
  const store = durableObjectStore(() => binding(async () => ({ refused }))) as TaskStore;
  await expect(store.read("task")).rejects.toMatchObject({ name: "ParleyError", ...refused });
});

test("a binding that the Worker does not have is a mistake, and not an outage", async () => {
  const missing: { readonly TASKS?: ReturnType<typeof binding> } = {};
  // @ts-expect-error -- what wrangler.jsonc names may differ from the types
  const store = durableObjectStore(() => missing.TASKS);
  const message =
    "The binding of durableObjectStore is undefined. Name the class under durable_objects.bindings in wrangler.jsonc.";
  await expect((store as TaskStore).read("task")).rejects.toMatchObject({
    name: "ParleyError",
    code: "no_store",
    message,
  });

  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const logger = { debug: log, info: log, warn: log, error: log };
  const keys = [`test:${"A".repeat(43)}`];
  const app = parley({ name: "shop", version: "1.0.0", store, logger, keys });
  app.tool("bake", { description: "Bake", task: "required" }, async (ctx) => {
    await ctx.background();
    return "baked";
  });
  const { error } = await callTool(app, "bake", {}, { capabilities: canFollowTasks });
  expect(error?.message).not.toContain("at the moment");
  expect(error?.data).toEqual({ reason: "no_store" });
  expect(lines).toEqual([message]);
});

test("an object without SQLite is a mistake, and not an outage", async () => {
  const storage = {
    sql: {
      exec: () => {
        throw new Error("SQL is not enabled for this Durable Object class. To enable it, …");
      },
    },
    transactionSync: <T>(operation: () => T) => operation(),
    setAlarm: async () => {},
    deleteAlarm: async () => {},
  };
  const Tasks = taskObject(parley({ name: "shop", version: "1.0.0" }));
  const object = new Tasks({ storage }, {});
  const refused = {
    code: "no_store",
    message:
      "The Durable Object has no SQLite storage. Name its class under new_sqlite_classes in the migrations of wrangler.jsonc.",
  };
  expect(await object.parley("read", ["task"])).toEqual({ refused });
  expect(await object.parley("usage", ["ann"])).toEqual({ refused });
});

test("mistakes are refused when the module loads", () => {
  // @ts-expect-error -- a binding instead of a function
  expect(() => durableObjectStore({})).toThrow(
    "durableObjectStore(env.TASKS): a binding cannot be used while the module loads. Pass a function: durableObjectStore(() => env.TASKS).",
  );
  // @ts-expect-error -- a name instead of a function
  expect(() => durableObjectStore(() => binding(async () => ({})), { objectFor: "a" })).toThrow(
    "durableObjectStore(namespace, { objectFor }): objectFor is a function from a principal to the name of an object.",
  );
  expect(() => taskObject({} as App)).toThrow(
    "taskObject(app): the argument is the app that parley() returned.",
  );
  expect(taskObject(parley({ name: "shop", version: "1.0.0" }))).toBeTypeOf("function");
});

test("a record over the limit of a row says how large it is, and what to do", () => {
  expect(recordTooLarge('Step "render"', 3.1 * 1024 * 1024, 2 * 1024 * 1024).message).toBe(
    'Step "render" is 3.1 MB, and a Durable Object keeps at most 2 MB in a row. Keep an id instead of the contents.',
  );
});
