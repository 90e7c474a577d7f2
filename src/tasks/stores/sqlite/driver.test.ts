// The two drivers of SQLite behind one interface.

import { expect, onTestFinished, test } from "vitest";
import { isBusy, isText, loadDriver } from "./driver.ts";
import { newPath } from "./folder.fixture.ts";

const open = await loadDriver();
const absent = async () => {
  throw new Error("Cannot find package 'libsql'");
};

test("without a driver there is one clear error", async () => {
  const none = { builtIn: () => undefined, libsql: absent };
  await expect(loadDriver(none)).rejects.toThrow(
    "SQLite needs Node 22.13 or later, or the package libsql. On an older Node, run: npm install libsql",
  );
});

test("the driver of Node is preferred to libsql", async () => {
  const made: string[] = [];
  class DatabaseSync {
    constructor(path: string) {
      made.push(path);
    }
    exec() {}
    prepare() {}
    close() {}
  }
  const driver = await loadDriver({ builtIn: () => ({ DatabaseSync }), libsql: absent });
  driver("path");
  expect(made).toEqual(["path"]);
});

test("loading the driver of Node does not warn", async () => {
  const warnings: string[] = [];
  const listener = ({ message }: Error) => void warnings.push(message);
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  const before = Reflect.get(process, "emitWarning") as unknown;
  await loadDriver();
  // Node emits warnings in the next tick.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
  expect(Reflect.get(process, "emitWarning")).toBe(before);
});

function database(path = newPath()) {
  const opened = open(path);
  onTestFinished(() => opened.close());
  return opened;
}

test("values come back unchanged", () => {
  const { exec, prepare } = database();
  exec("create table kept (a text, b integer) strict");
  const insert = prepare("insert into kept (a, b) values (?, ?)");
  const values = [0, -1, 2 ** 31, 1_800_000_000_000, Number.MAX_SAFE_INTEGER, null];
  for (const value of values) insert.run("é👍", value);
  const rows = prepare("select a, b from kept order by rowid").all();
  expect(rows.map(({ b }) => b)).toEqual(values);
  expect(new Set(rows.map(({ a }) => a))).toEqual(new Set(["é👍"]));
  expect(prepare("select ? as only").all(null)).toMatchObject([{ only: null }]);
  const many = prepare("insert into kept (a, b) values (?, 7) returning b");
  expect(many.all("x").map(({ b }) => b)).toEqual([7]);
});

test.each(["a\0b", "\ud800", "\udc00x"])(
  "a text that would come back changed is refused: %j",
  (text) => {
    const { exec, prepare } = database();
    exec("create table kept (a text)");
    expect(isText(text)).toBe(false);
    expect(() => prepare("insert into kept (a) values (?)").run(text)).toThrow(
      "SQLite cannot keep text with a NUL character or half of a surrogate pair.",
    );
  },
);

test("a busy database is distinguished from other errors", () => {
  const path = newPath();
  const [one, other] = [database(path), database(path)];
  one.exec("create table kept (a text unique)");
  one.exec("insert into kept values ('a'); begin immediate");
  const errorOf = (sql: string) => {
    try {
      other.exec(sql);
    } catch (error) {
      return error;
    }
  };
  other.exec("pragma busy_timeout = 1");
  expect(isBusy(errorOf("begin immediate"))).toBe(true);
  one.exec("commit");
  expect(isBusy(errorOf("insert into kept values ('a')"))).toBe(false);
  expect(isBusy(errorOf("nonsense"))).toBe(false);
  expect(isBusy(undefined)).toBe(false);
});
