// An intruder who can write to the database but has no key changes records. The task that was changed fails or no
// longer exists, the log says so, and no other task suffers.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { loadDriver } from "../../src/tasks/stores/sqlite/driver.ts";
import type { SqlValue } from "../../src/tasks/stores/columns.ts";
import { newKey } from "../../src/token/keyring.ts";
import { callAs, goldenApp, idIn, orderAs, taskAs, taskWith } from "../golden/tasks.ts";
import { accept, tokenIn } from "./post.ts";
import { patience } from "../patience.ts";

const keys = newKey("test");
const name = { inputResponses: { name: accept({ name: "Rex" }) } };

async function opened() {
  const folder = mkdtempSync(join(tmpdir(), "parley-moved-"));
  const path = join(folder, "tasks.db");
  const ran: string[] = [];
  const tickets: unknown[] = [];
  const logged: string[] = [];
  const log = (message: string, fields?: Record<string, unknown>) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
  const store = sqliteStore(path);
  const app = goldenApp(path, keys, { store, ran, tickets, logger });
  await app.work();
  const database = (await loadDriver())(path);
  database.exec("pragma busy_timeout = 10000");
  onTestFinished(async () => {
    database.close();
    await app.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  /** What an intruder does. */
  const sql = (text: string, ...values: readonly SqlValue[]) =>
    database.prepare(text).all(...values);
  const parked = async (user: string) => {
    const id = await orderAs(app, user);
    await taskWith(app, user, id, "input_required");
    return id;
  };
  const waiting = async (user: string) => {
    const id = idIn(await callAs(app, user, "approve"));
    await vi.waitUntil(
      () => sql("select 1 from tasks where id = ? and worker is null", id).length,
      patience,
    );
    return id;
  };
  /** Answers a task, which must end well. */
  const goesOn = async (user: string, id: string) => {
    await taskAs(app, user, "tasks/update", id, name);
    const { result } = await taskWith(app, user, id, "completed");
    expect(JSON.stringify(result)).toContain("Rex");
  };
  /** Lets a worker look at a task, and waits until it has failed in the store. */
  const failsInStore = async (id: string) => {
    sql("update tasks set due_at = 1 where id = ?", id);
    await vi.waitUntil(
      () => sql("select status from tasks where id = ?", id)[0]?.["status"] === "failed",
      patience,
    );
  };
  return { app, ran, tickets, logged, sql, parked, waiting, goesOn, failsInStore };
}

const refused = "A task was refused. ";
const byOthers = "so something other than mcp-parley changed the database";
const gone = { error: { message: "No such task" } };

describe("a task that is given to another caller", () => {
  test("does not exist for that caller, is not run, and leaves the caller's own task alone", async () => {
    const { app, logged, ran, sql, parked, goesOn, failsInStore } = await opened();
    const adas = await parked("ada");
    const eves = await parked("eve");
    ran.length = 0;
    sql("update tasks set principal = 'eve' where id = ?", adas);
    expect(await taskAs(app, "eve", "tasks/get", adas)).toMatchObject(gone);
    expect(await taskAs(app, "eve", "tasks/update", adas, name)).toMatchObject(gone);
    expect(await taskAs(app, "eve", "tasks/cancel", adas)).toMatchObject(gone);
    expect(logged[0]).toContain(refused);
    expect(logged[0]).toContain(byOthers);
    expect(logged[0]).toMatch(/"call":"[\da-f]{32}","task":"[\da-f]{6}…"/);
    await failsInStore(adas);
    expect(await taskAs(app, "eve", "tasks/get", adas)).toMatchObject(gone);
    expect(ran).toEqual([]);
    await goesOn("eve", eves);
  });

  test("does not exist either if its contents are moved into a row of that caller", async () => {
    const { app, sql, parked, goesOn, failsInStore } = await opened();
    const adas = await parked("ada");
    const eves = await parked("eve");
    const others = await parked("eve");
    const [row] = sql("select call_id, input, waits from tasks where id = ?", adas);
    sql("update tasks set call_id = 'elsewhere' where id = ?", adas);
    const { call_id: callId, input, waits } = row as Record<string, string>;
    sql(
      "update tasks set call_id = ?, input = ?, waits = ? where id = ?",
      callId!,
      input!,
      waits!,
      eves,
    );
    expect(await taskAs(app, "eve", "tasks/get", eves)).toMatchObject(gone);
    await failsInStore(eves);
    await goesOn("eve", others);
  });

  test("does not exist either if two tasks swap their ids", async () => {
    const { app, sql, parked } = await opened();
    const one = await parked("ada");
    const other = await parked("ada");
    sql("pragma foreign_keys = off");
    sql("update tasks set id = 'between' where id = ?", one);
    sql("update tasks set id = ? where id = ?", one, other);
    expect(await taskAs(app, "ada", "tasks/get", one)).toMatchObject(gone);
  });
});

test("another tool does not run with the arguments of a task", async () => {
  const { logged, ran, sql, parked, goesOn, failsInStore } = await opened();
  const [moved, own] = [await parked("ada"), await parked("ada")];
  ran.length = 0;
  sql("update tasks set tool = 'broken' where id = ?", moved);
  await failsInStore(moved);
  expect(logged.join("\n")).toContain(byOthers);
  expect(logged.join("\n")).not.toContain("no such disk");
  expect(ran).toEqual([]);
  await goesOn("ada", own);
});

test("a delivery to a task that was given to another caller is refused", async () => {
  const { app, logged, tickets, sql, waiting } = await opened();
  const id = await waiting("ada");
  sql("update tasks set principal = 'eve' where id = ?", id);
  expect(JSON.stringify(await app.deliver(String(tickets[0]), { ok: true }))).toContain("gone");
  expect(logged.join("\n")).toContain(byOthers);
});

test("a task fails if a record is moved to another place in its log", async () => {
  const { logged, ran, sql, parked, goesOn, failsInStore } = await opened();
  const [moved, own] = [await parked("ada"), await parked("ada")];
  ran.length = 0;
  const [first] = sql("select record from task_log where task_id = ? and seq = 0", moved);
  sql(
    "update task_log set record = ? where task_id = ? and seq = 1",
    String(first?.["record"]),
    moved,
  );
  await failsInStore(moved);
  expect(logged.join("\n")).toContain(byOthers);
  expect(ran).toEqual([]);
  await goesOn("ada", own);
});

test("a client is not asked a question that only another caller may answer", async () => {
  const { app, sql, parked, waiting } = await opened();
  const asking = await parked("eve");
  const approving = await waiting("eve");
  const [row] = sql("select waits from tasks where id = ?", asking);
  const [own] = sql("select waits from tasks where id = ?", approving);
  const [question] = JSON.parse(String(row?.["waits"]));
  const [wait] = JSON.parse(String(own?.["waits"]));
  const put = (...waits: unknown[]) =>
    sql(
      "update tasks set waits = ?, status = 'input_required' where id = ?",
      JSON.stringify(waits),
      approving,
    );
  // With the request of another task.
  put({ ...wait, kind: "question", request: question.request });
  expect(await taskAs(app, "eve", "tasks/get", approving)).toMatchObject(gone);
  // Without a request, it is not shown, and an answer to it does not count.
  put({ ...wait, kind: "question" });
  await taskAs(app, "eve", "tasks/update", approving, {
    inputResponses: { boss: accept({ ok: true }) },
  });
  expect(sql("select inbox from tasks where id = ?", approving)[0]).toEqual({ inbox: "[]" });
  // A question of the task itself, under the key of another one.
  sql(
    "update tasks set waits = ? where id = ?",
    JSON.stringify([{ ...question, key: "sure" }]),
    asking,
  );
  expect(await taskAs(app, "eve", "tasks/get", asking)).toMatchObject(gone);
});

test("a status that differs from the one the task ended with is not believed", async () => {
  const { app, sql, parked, goesOn } = await opened();
  const done = await parked("ada");
  await goesOn("ada", done);
  const live = await parked("ada");
  for (const [id, status] of [
    [done, "failed"],
    [done, "working"],
    [live, "completed"],
    [live, "failed"],
  ] as const) {
    const [before] = sql("select status from tasks where id = ?", id);
    sql("update tasks set status = ? where id = ?", status, id);
    expect(await taskAs(app, "ada", "tasks/get", id)).toMatchObject(gone);
    sql("update tasks set status = ? where id = ?", String(before?.["status"]), id);
  }
  expect((await taskAs(app, "ada", "tasks/get", done)).result).toMatchObject({
    status: "completed",
  });
});

test("a recorded round does not return its response for other answers", async () => {
  const { app, ran, sql } = await opened();
  const requestState = tokenIn(await callAs(app, "ada", "pay"));
  const pay = (sum: number) =>
    callAs(app, "ada", "pay", {}, { requestState, inputResponses: { sum: accept({ sum }) } });
  expect(JSON.stringify(await pay(1))).toContain("paid 1");
  expect((await pay(2)).error).toMatchObject({ data: { reason: "superseded_round" } });
  const [one] = sql("select answers from rounds");
  const other = tokenIn(await callAs(app, "ada", "pay"));
  await callAs(
    app,
    "ada",
    "pay",
    {},
    { requestState: other, inputResponses: { sum: accept({ sum: 2 }) } },
  );
  const [two] = sql("select answers from rounds where answers <> ?", String(one?.["answers"]));
  sql("update rounds set answers = ?", String(two?.["answers"]));
  expect((await pay(2)).error).toMatchObject({ data: { reason: "invalid_request_state" } });
  expect(ran.filter((step) => step === "pay")).toHaveLength(2);
});
