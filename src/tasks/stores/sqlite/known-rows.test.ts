// What the SQLite store writes when little changes, and what it need not read. The contract, which opens one file twice, shows
// that it never works with a row that another process has changed since.

import { expect, onTestFinished, test } from "vitest";
import {
  answer,
  create,
  hold,
  keepMs,
  leaseMs,
  newTask,
  park,
  question,
  waiting,
} from "../../../testing/store/opened.ts";
import { created } from "../../new-task.ts";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { KnownRows } from "./known-rows.ts";
import { migrate } from "./sqlite-migrations.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** A store that notes which statements it runs. */
async function noting() {
  const ran: string[] = [];
  const database = (await loadDriver())(newPath());
  migrate(database);
  const note = (sql: string) => void ran.push(sql.replaceAll(/\s+/g, " "));
  const path = async (): Promise<SqliteDatabase> => ({
    ...database,
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return {
        run: (...values) => {
          note(sql);
          statement.run(...values);
        },
        all: (...values) => {
          note(sql);
          return statement.all(...values);
        },
      };
    },
  });
  const store = new SqliteStore({ path, now: () => 1_000 });
  onTestFinished(() => store.close());
  const since = async (doing: () => Promise<unknown>): Promise<readonly string[]> => {
    ran.length = 0;
    await doing();
    return ran.filter((sql) => / tasks /.test(sql));
  };
  return { store, since };
}

const record = (name: string, input = "") => created(newTask(name, { input }), 1_000);

test("an operation writes the columns that it changes, and reads no row that was just written", async () => {
  const { store, since } = await noting();
  const ref = await hold(store, "a");
  const more = { at: 0, records: ["one"], taken: [], returned: [] };
  expect(await since(() => store.append(ref, more))).toEqual([
    "update tasks set log_length = ?, log_bytes = ?, fruitless = ? where id = ?",
  ]);
  expect(await since(() => store.report(ref, "half"))).toEqual([
    "update tasks set revision = ?, status_message = ? where id = ?",
  ]);
  expect(await since(() => store.read(ref.id))).toEqual([]);
  expect(await since(() => store.park(ref, waiting([question("q")])))).toEqual([
    "update tasks set status = ?, revision = ?, worker = ?, due_at = ?, waits = ?, asked = ?, runs = runs || ?, wait_group = ?, wait_since = ? where id = ?",
  ]);
  expect(await since(() => store.answer(ref.id, [answer("q")]))).toEqual([
    "update tasks set status = ?, revision = ?, due_at = ?, waits = ?, inbox = ?, wait_group = ?, wait_since = ? where id = ?",
  ]);
  expect(await store.read(ref.id)).toMatchObject({
    status: "working",
    revision: 4,
    logLength: 1,
    statusMessage: "half",
  });
});

test("an operation that was rolled back with another one starts from the row again", async () => {
  const { store } = await noting();
  await park(store, "a", [question("q")]);
  await hold(store, "b");
  const [answered, failed] = await Promise.allSettled([
    store.answer("task-a", [answer("q")]),
    store.report({ id: "task-b", epoch: 1 }, "a NUL: \0"),
  ]);
  expect(failed.status).toBe("rejected");
  expect(answered).toMatchObject({ value: { accepted: ["q"], task: { revision: 3 } } });
  expect(await store.read("task-a")).toMatchObject({ revision: 3, inbox: [{ id: "q" }] });
});

test("what another process commits is read again, in an operation and by itself", async () => {
  const path = newPath();
  const [store, other] = [new SqliteStore({ path }), new SqliteStore({ path })];
  onTestFinished(() => store.close());
  onTestFinished(() => other.close());
  const ref = await park(store, "a", [question("q"), question("r")]);
  await other.answer(ref.id, [answer("q")]);
  expect(await store.read(ref.id)).toMatchObject({ revision: 3 });
  await other.cancel(ref.id, keepMs);
  expect(await store.answer(ref.id, [answer("r")])).toMatchObject({ accepted: [] });
});

test("a note that tasks were read, and a renewal, keep known rows true", async () => {
  const { store, since } = await noting();
  const ref = await hold(store, "a");
  await store.noteRead([ref.id]);
  await store.renew("w", [ref], leaseMs * 2);
  expect(await since(() => store.read(ref.id))).toEqual([]);
  expect(await store.read(ref.id)).toMatchObject({ isUnread: false, dueAt: 1_000 + leaseMs * 2 });
});

test("live tasks are counted only when there may be too many of them", async () => {
  const { store, since } = await noting();
  const counts = async (name: string, most: number) => {
    let kind = "";
    const ran = await since(async () => {
      ({ kind } = await store.create(newTask(name), most));
    });
    return [kind, ran.filter((sql) => sql.includes("as live from")).length];
  };
  expect(await counts("a", 3)).toEqual(["created", 1]);
  expect(await counts("b", 3)).toEqual(["created", 0]);
  expect(await counts("c", 3)).toEqual(["created", 0]);
  expect(await counts("d", 3)).toEqual(["too many", 1]);
  await store.cancel("task-a", keepMs);
  await store.cancel("task-b", keepMs);
  expect(await counts("d", 3)).toEqual(["created", 1]);
  expect(await counts("e", 3)).toEqual(["created", 0]);
  expect(await counts("f", 3)).toEqual(["too many", 1]);
});

test("a task that becomes live again counts", async () => {
  const { store } = await noting();
  await create(store, "a");
  const ref = await hold(store, "b");
  await store.finish(ref, {
    status: "failed",
    result: "stuck",
    statusMessage: undefined,
    keepMs,
  });
  // They are counted here, and once more below only if the other one is taken into account.
  await store.create(newTask("c"), 2);
  await store.requeue(ref.id, { stuckAfter: 0, keepMs });
  expect(await store.create(newTask("d"), 3)).toEqual({ kind: "too many" });
});

test("a few hundred rows are known, and no large one", () => {
  const rows = new KnownRows();
  for (let n = 0; n < 1_000; n += 1) rows.put(record(`${n}`));
  const known = Array.from({ length: 1_000 }, (_, n) => rows.get(`task-${n}`)).filter(
    (row) => row !== undefined,
  );
  expect(known).toHaveLength(256);
  expect(rows.get("task-999")).toBeDefined();
  rows.put(record("999", "x".repeat(20_000)));
  expect(rows.get("task-999")).toBeUndefined();
});
