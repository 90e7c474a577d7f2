import { expect, test } from "vitest";
import type { SqliteDatabase } from "./driver.ts";
import { loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";
import { GroupCommit } from "./group-commit.ts";

const busy = Object.assign(new Error("database is locked"), { errcode: 5 });

/** A database that notes what it is told, and fails where it is to. */
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

test("what is called in one moment shares a transaction, and resolves after its commit", async () => {
  const { notes, run } = noting();
  expect(await Promise.all([run("a"), Promise.resolve().then(() => run("b"))])).toEqual(["a", "b"]);
  expect(notes).toEqual(["begin immediate", "a", "b", "commit", "a resolved", "b resolved"]);
});

test("what is called later has its own", async () => {
  const { notes, run } = noting();
  await run("a");
  await run("b");
  expect(notes.filter((note) => note === "commit")).toHaveLength(2);
});

test("one that throws is rolled back with the others, which then run alone", async () => {
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

test("a rollback that SQLite has made itself is no error", async () => {
  const full = new Error("disk full");
  const none = new Error("no transaction is active");
  const { run } = noting((sql) =>
    sql === "commit" ? full : sql === "rollback" ? none : undefined,
  );
  expect(await run("a")).toBe(full);
});

test("a locked database is tried again, with whatever was called meanwhile after it", async () => {
  const { notes, run } = noting((sql, times) =>
    sql === "begin immediate" && times <= 3 ? busy : undefined,
  );
  expect(await Promise.all([run("a"), run("b")])).toEqual(["a", "b"]);
  const tries = ["begin immediate", "begin immediate", "begin immediate", "begin immediate"];
  expect(notes).toEqual([...tries, "a", "b", "commit", "a resolved", "b resolved"]);
});

test("a database that stays locked is one clear error for all", async () => {
  const { run } = noting((sql) => (sql === "begin immediate" ? busy : undefined));
  const [error, same] = await Promise.all([run("a"), run("b")]);
  expect(error).toMatchObject({
    message: "Another process kept the SQLite database locked for 0.2 s.",
    cause: busy,
  });
  // Not waited for again, one by one.
  expect(same).toBe(error);
});

test("many are taken in turns, so that the event loop gets on", async () => {
  const { notes, run } = noting();
  await Promise.all(Array.from({ length: 600 }, (_, index) => run(String(index))));
  expect(notes.filter((note) => note === "commit")).toHaveLength(3);
});

test("SQLite's own lock is waited for without blocking, and nothing is lost", async () => {
  const open = await loadDriver();
  const path = newPath();
  const [one, other] = [open(path), open(path)];
  try {
    one.exec("pragma journal_mode = wal; create table kept (value text)");
    one.exec("pragma busy_timeout = 5");
    other.exec("begin immediate");
    let attempts = 0;
    let letGo = () => {};
    // This code gets its turn between two attempts, or the lock would never be given back.
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
