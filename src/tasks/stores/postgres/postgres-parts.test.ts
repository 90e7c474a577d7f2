// Parts of many tasks. The suite for all stores has what concerns one task.

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { hold } from "../../../testing/store/opened.ts";
import { openPool } from "./pool.ts";
import { PostgresStore } from "./postgres-store.ts";
import { TestServer } from "./server.fixture.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
beforeAll(async () => void (server = await TestServer.start()));
afterAll(() => server.stop());

const part = (n: number, record: string) => ({ n, key: '"draft"', record });
const start = { epoch: 0, n: -1 };

/** A store, and the statements that it has sent since it was last asked. */
async function watched() {
  const { schema } = await server.open();
  const pool = await openPool(server.postgres.url);
  onTestFinished(() => pool.end());
  const query = vi.spyOn(pool, "query");
  const store = new PostgresStore(pool, { schema });
  onTestFinished(() => store.close());
  const sent = () => {
    const texts = query.mock.calls.map(([statement]) => JSON.stringify(statement));
    query.mockClear();
    return texts.filter((text) => text.includes("task_parts")).length;
  };
  return { store, sent };
}

test("the parts that are written within one turn are one statement, and each claim has its own answer", async () => {
  const { store, sent } = await watched();
  const refs = await Promise.all(["a", "b", "c"].map((name) => hold(store, name)));
  sent();
  const stale = { ...refs[1]!, epoch: refs[1]!.epoch + 1 };
  const written = await Promise.all([
    store.addParts(refs[0]!, [part(0, "one"), part(1, "two")]),
    store.addParts(stale, [part(0, "late")]),
    store.addParts(refs[2]!, [part(0, "three")]),
  ]);
  expect([written, sent()]).toEqual([[true, false, true], 1]);
  const read = await Promise.all([
    store.readParts(refs[2]!.id, start),
    store.readParts("unknown", start),
    store.readParts(refs[0]!.id, start),
    store.readParts(refs[0]!.id, { epoch: refs[0]!.epoch, n: 0 }),
    store.readParts(refs[1]!.id, start),
  ]);
  expect(sent()).toBe(1);
  expect(read.map((page) => page?.parts.map(({ record }) => record))).toEqual([
    ["three"],
    undefined,
    ["one", "two"],
    ["two"],
    [],
  ]);
});

test("of many tasks, each gets its parts, in a few statements", async () => {
  const { store, sent } = await watched();
  const refs = [];
  for (let n = 0; n < 70; n += 1) refs.push(await hold(store, `t${n}`));
  sent();
  const written = await Promise.all(refs.map((ref) => store.addParts(ref, [part(0, ref.id)])));
  expect([written.every(Boolean), sent()]).toEqual([true, 3]);
  const pages = await Promise.all(refs.map(({ id }) => store.readParts(id, start)));
  expect(pages.map((page) => page?.parts[0]?.record)).toEqual(refs.map(({ id }) => id));
  expect(sent()).toBe(3);
});

test("a statement that fails fails for each of its tasks, and the next one is written", async () => {
  const { store } = await watched();
  const refs = [await hold(store, "a"), await hold(store, "b")];
  const bad = [part(0, "no\u0000text")];
  const add = (parts: readonly ReturnType<typeof part>[]) =>
    Promise.allSettled(refs.map((ref) => store.addParts(ref, parts)));
  expect((await add(bad)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await add([part(0, "text")])).map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
  ]);
});
