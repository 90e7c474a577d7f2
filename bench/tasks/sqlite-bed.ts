import { rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TaskStore } from "../../src/tasks/store.ts";
import { GroupCommit } from "../../src/tasks/stores/sqlite/group-commit.ts";
import { openDatabase } from "../../src/tasks/stores/sqlite/open.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import type { Bare, Bed } from "./bed.ts";
import { Count, countSqlite } from "./count.ts";
import { openOpenWorkflow } from "./openworkflow.ts";

export async function sqliteBed(): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const count = new Count();
  countSqlite(count);
  const closing: (() => Promise<void> | void)[] = [];
  let files = 0;
  let path = "";

  const store = async (): Promise<TaskStore> => {
    path = join(folder, `tasks-${(files += 1)}.db`);
    const made = new SqliteStore({ path });
    closing.push(() => made.close());
    await made.migrate();
    return made;
  };

  const bare = async (): Promise<readonly Bare[]> => {
    // Opened as the store opens it, so that the settings are the same.
    const database = await openDatabase(join(folder, `bare-${(files += 1)}.db`));
    closing.push(() => database.close());
    database.exec("create table bare (id text primary key, state text, updates integer) strict");
    const inserting = database.prepare("insert into bare values (?, ?, 0)");
    const updating = database.prepare(
      "update bare set state = ?, updates = updates + 1 where id = ?",
    );
    const counting = database.prepare("select count(*) rows, sum(updates) updates from bare");
    const commits = new GroupCommit(database);
    const alone = (work: () => void): void => {
      database.exec("begin immediate");
      work();
      database.exec("commit");
    };
    const counted: Bare["counted"] = async () => {
      const [row] = counting.all();
      return { rows: Number(row?.["rows"]), updates: Number(row?.["updates"]) };
    };
    return [
      {
        name: "bare",
        insert: (id, state) => alone(() => inserting.run(id, state)),
        update: (id, state) => alone(() => updating.run(state, id)),
        counted,
      },
      {
        name: "bare, commits shared",
        insert: (id, state) => commits.run(() => inserting.run(id, state)),
        update: (id, state) => commits.run(() => updating.run(state, id)),
        counted,
      },
    ];
  };

  return {
    name: "sqlite",
    about: await about(join(folder, "about.db")),
    count,
    store,
    bare,
    rivals: async () => [
      await openOpenWorkflow({ sqlite: join(folder, `other-${(files += 1)}.db`) }),
    ],
    commits: async () => count.ever("commit"),
    diskBytes: async () =>
      [path, `${path}-wal`].reduce(
        (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
    close: async () => {
      for (const close of closing) await close();
      remove();
      process.removeListener("exit", remove);
    },
  };
}

async function about(path: string): Promise<string> {
  const database = await openDatabase(path);
  const [row] = database.prepare("select sqlite_version() as version").all();
  database.close();
  const driver = process.getBuiltinModule("node:sqlite") === undefined ? "libsql" : "node:sqlite";
  return `SQLite ${String(row?.["version"])} (${driver}), WAL, synchronous=FULL`;
}
