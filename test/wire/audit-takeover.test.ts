// What is left of the audit when a process dies between an answer and its record.

import { parley } from "mcp-parley";
import type { App, AuditOptions, AuditRecord, Store } from "mcp-parley";
import type { AuditStore, TaskStore } from "mcp-parley/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { openChain } from "../../src/server/audit/open-chain.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { ask, begun, until } from "./task-calls.ts";

function desk(store: Store, audit?: AuditOptions): App {
  const app = parley({ name: "desk", version: "1.0.0", keys, logger: quiet, store, audit });
  app.tool("sure", { task: "required" }, async (ctx) => {
    await ctx.background();
    return (await ctx.confirm("sure", "Go on?")) ? "went on" : "stopped";
  });
  return app;
}

/** The audit of the only call. */
async function opened({ audit }: MemoryStore) {
  const entries = await audit.readAfter(undefined, 100);
  const { records, isEnded, problems } = openChain(entries, parseKeys(keys));
  return { lines: [...records.map(({ action, key }) => `${action} ${key}`), ...problems], isEnded };
}

/** The store of a process that is killed when it would add to the audit for this time. */
function dying(store: TaskStore, at: number) {
  let appends = 0;
  let isDead = false;
  const never = () => new Promise<never>(() => {});
  const { audit } = store;
  const dyingAudit: AuditStore | undefined = audit && {
    ...audit,
    append: (...args) => {
      appends += 1;
      isDead ||= appends >= at;
      return isDead ? never() : audit.append(...args);
    },
  };
  const killed = new Proxy(store, {
    get: (target, name) => {
      if (name === "audit") return dyingAudit;
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown =>
        isDead && name !== "close" ? never() : Reflect.apply(member, target, args);
    },
  });
  return { killed, hasDied: () => isDead };
}

test("if a worker dies between an answer and its record, the next one records the answer", async () => {
  const store = new MemoryStore({ leaseMs: 500 });
  // The question is the first record, the answer is the second.
  const { killed, hasDied } = dying(store, 2);
  const first = desk(killed);
  await first.work();
  const id = await begun(first, "sure");
  await until(first, id, "input_required");
  const other = desk(store);
  onTestFinished(() => other.close());
  await ask(other, "tasks/update", id, {
    inputResponses: { sure: { action: "accept", content: {} } },
  });
  await vi.waitFor(() => expect(hasDied()).toBe(true), patience);
  expect((await opened(store)).lines).toEqual(["asked sure"]);
  await other.work();
  await until(other, id, "completed");
  expect((await opened(store)).lines).toEqual(["asked sure", "answered sure"]);
  expect((await opened(store)).isEnded).toBe(true);
});

/** A store whose operations go through `around`. */
function watched(
  store: TaskStore,
  around: (name: string, run: () => Promise<unknown>) => Promise<unknown>,
): TaskStore {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || name === "close") return member;
      if (name === "subscribe" || name === "hearsOthers") return member.bind(target) as unknown;
      return (...args: unknown[]) =>
        around(String(name), async () => Reflect.apply(member, target, args) as unknown);
    },
  });
}

const yes = { inputResponses: { sure: { action: "accept", content: {} } } };

test("if a worker dies between the record and the entry of an answer, the next one records nothing twice", async () => {
  const store = new MemoryStore({ leaseMs: 500 });
  let isDead = false;
  const first = desk(
    watched(store, (name, run) => {
      isDead ||= name === "finish";
      return isDead ? new Promise<never>(() => {}) : run();
    }),
  );
  await first.work();
  const id = await begun(first, "sure");
  await until(first, id, "input_required");
  const other = desk(store);
  onTestFinished(() => other.close());
  await ask(other, "tasks/update", id, yes);
  await vi.waitFor(() => expect(isDead).toBe(true), patience);
  expect((await store.read(id))?.inbox.map(({ key }) => key)).toEqual(["sure"]);
  expect((await opened(store)).lines).toEqual(["asked sure", "answered sure"]);
  await other.work();
  await until(other, id, "completed");
  expect((await opened(store)).lines).toEqual(["asked sure", "answered sure"]);
  expect((await opened(store)).isEnded).toBe(true);
});

test("a process that runs a task again after it has lost the entry of an answer records nothing twice", async () => {
  const store = new MemoryStore({ leaseMs: 500 });
  const told: AuditRecord[] = [];
  let ends = 0;
  const app = desk(
    watched(store, async (name, run) => {
      ends += name === "finish" ? 1 : 0;
      return name === "finish" && ends === 1 ? false : run();
    }),
    { sink: (record) => told.push(record) },
  );
  onTestFinished(() => app.close());
  await app.work();
  const id = await begun(app, "sure");
  await until(app, id, "input_required");
  await ask(app, "tasks/update", id, yes);
  await until(app, id, "completed");
  expect(ends).toBe(2);
  expect((await opened(store)).lines).toEqual(["asked sure", "answered sure"]);
  expect(told.map(({ action }) => action)).toEqual(["asked", "answered"]);
});

test.each([
  ["written with the next write if the store keeps the audit", {}, false],
  ["written first if only a sink gets the audit, which could not tell", { store: false }, true],
])("the entry of an answer is %s", async (_how, options, isAppended) => {
  const names: string[] = [];
  const told: AuditRecord[] = [];
  const store = watched(new MemoryStore(), (name, run) => {
    names.push(name);
    return run();
  });
  const app = desk(store, {
    ...options,
    sink: (record) => {
      names.push("sink");
      told.push(record);
    },
  });
  onTestFinished(() => app.close());
  await app.work();
  const id = await begun(app, "sure");
  await until(app, id, "input_required");
  names.length = 0;
  await ask(app, "tasks/update", id, yes);
  await until(app, id, "completed");
  const order = names.filter((name) => ["answer", "append", "sink", "finish"].includes(name));
  expect(order).toEqual(["answer", ...(isAppended ? ["append"] : []), "sink", "finish"]);
  expect(told.map(({ action }) => action)).toEqual(["asked", "answered"]);
});
