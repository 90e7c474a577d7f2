// Operations that share a transaction.

import { expect, test } from "vitest";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { GroupCommit } from "./group-commit.ts";

const busy = Object.assign(new Error("database is locked"), { errcode: 5 });

/** A database that notes its statements and fails where the test wants it to. */
function noting(fail: (sql: string, times: number) => Error | undefined = () => undefined) {
  const notes: string[] = [];
  const database: SqliteDatabase = {
    exec: (sql) => {
      notes.push(sql);
      const error = fail(sql, notes.filter((note) => note === sql).length);
      if (error !== undefined) throw error;
    },
    prepare: () => {
      throw new Error("not here");
    },
    close: () => {},
  };
  const commits = new GroupCommit(database, 200);
  const run = (name: string, body: () => unknown = () => name) =>
    commits
      .run(() => {
        notes.push(name);
        return body();
      })
      .then(
        (value) => {
          notes.push(`${name} resolved`);
          return value;
        },
        (error: unknown) => {
          notes.push(`${name} rejected`);
          return error;
        },
      );
  return { notes, run };
}

test("simultaneous operations share a transaction, and resolve after its commit", async () => {
  const { notes, run } = noting();
  expect(await Promise.all([run("a"), Promise.resolve().then(() => run("b"))])).toEqual(["a", "b"]);
  expect(notes).toEqual(["begin immediate", "a", "b", "commit", "a resolved", "b resolved"]);
});

test("a later operation has its own transaction", async () => {
  const { notes, run } = noting();
  await run("a");
  await run("b");
  expect(notes.filter((note) => note === "commit")).toHaveLength(2);
});

test("an operation that throws is rolled back with the others, which then run alone", async () => {
  const { notes, run } = noting();
  const mistake = new Error("mistake");
  const bad = () => {
    throw mistake;
  };
  expect(await Promise.all([run("a"), run("bad", bad), run("c")])).toEqual(["a", mistake, "c"]);
  const together = ["begin immediate", "a", "bad", "rollback"];
  const first = ["begin immediate", "a", "commit", "a resolved"];
  const second = ["begin immediate", "bad", "rollback", "bad rejected"];
  const third = ["begin immediate", "c", "commit", "c resolved"];
  expect(notes).toEqual([...together, ...first, ...second, ...third]);
});

test("a commit that fails resolves nothing", async () => {
  const full = new Error("disk full");
  const { notes, run } = noting((sql) => (sql === "commit" ? full : undefined));
  expect(await Promise.all([run("a"), run("b")])).toEqual([full, full]);
  expect(notes.filter((note) => note.endsWith("resolved"))).toEqual([]);
  expect(notes.at(-2)).toBe("rollback");
});

test("a rollback by SQLite itself is not an error", async () => {
  const full = new Error("disk full");
  const none = new Error("no transaction is active");
  const { run } = noting((sql) =>
    sql === "commit" ? full : sql === "rollback" ? none : undefined,
  );
  expect(await run("a")).toBe(full);
});

test("an operation on a locked database is tried again, before later operations", async () => {
  const { notes, run } = noting((sql, times) =>
    sql === "begin immediate" && times <= 3 ? busy : undefined,
  );
  expect(await Promise.all([run("a"), run("b")])).toEqual(["a", "b"]);
  const tries = ["begin immediate", "begin immediate", "begin immediate", "begin immediate"];
  expect(notes).toEqual([...tries, "a", "b", "commit", "a resolved", "b resolved"]);
});

test("a database that stays locked causes one clear error for all operations", async () => {
  const { run } = noting((sql) => (sql === "begin immediate" ? busy : undefined));
  const [error, same] = await Promise.all([run("a"), run("b")]);
  expect(error).toMatchObject({
    message: "Another process kept the SQLite database locked for 0.2 s.",
    cause: busy,
  });
  // The operations do not wait for the lock again, one by one.
  expect(same).toBe(error);
});

test("many operations are split into several transactions, so that the event loop is not blocked", async () => {
  const { notes, run } = noting();
  await Promise.all(Array.from({ length: 600 }, (_, index) => run(String(index))));
  expect(notes.filter((note) => note === "commit")).toHaveLength(3);
});

test("waiting for a SQLite lock does not block, and nothing is lost", async () => {
  const open = await loadDriver();
  const path = newPath();
  const [one, other] = [open(path), open(path)];
  try {
    one.exec("pragma journal_mode = wal; create table kept (value text)");
    one.exec("pragma busy_timeout = 5");
    other.exec("begin immediate");
    let attempts = 0;
    let letGo = () => {};
    // This code runs between two attempts, because otherwise the lock would never be released.
    const hasTriedTwice = new Promise<void>((resolve) => void (letGo = resolve));
    const exec = (sql: string) => {
      if (sql === "begin immediate" && (attempts += 1) === 2) letGo();
      one.exec(sql);
    };
    const commits = new GroupCommit({ ...one, exec }, 5_000);
    const insert = one.prepare("insert into kept (value) values (?)");
    const writing = commits.run(() => insert.run("a"));
    await hasTriedTwice;
    expect(other.prepare("select value from kept").all()).toEqual([]);
    other.exec("commit");
    await writing;
    expect(attempts).toBeGreaterThan(2);
    expect(other.prepare("select value from kept").all()).toMatchObject([{ value: "a" }]);
  } finally {
    one.close();
    other.close();
  }
});
