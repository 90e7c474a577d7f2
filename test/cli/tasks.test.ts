// Tasks, by their server and in their store.

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../postgres/database.ts";
import { deskUrl, emptyFolder, parley, read } from "./run.ts";

interface Stored {
  readonly store: Store;
  /** As it is named on the command line. */
  readonly target: string;
}

const stores: Record<string, () => Promise<Stored>> = {
  "a file": async () => {
    const target = join(emptyFolder(), "tasks.db");
    return { store: sqliteStore(target), target };
  },
  Postgres: async () => {
    const { url: target, stop } = await freshDatabase();
    onTestFinished(stop);
    const bare = await parley(["tasks", "ls", "--store", target], { cwd: emptyFolder() });
    expect(bare.stderr).toContain('missing. Run: parley migrate "$DATABASE_URL"\n');
    return { store: postgresStore(target), target };
  },
};

test.each(Object.entries(stores))(
  "lists, shows, answers and watches a task through its server and in %s",
  async (_, open) => {
    const cwd = emptyFolder();
    const { store, target } = await open();
    onTestFinished(() => store.close());
    const url = await deskUrl({ store });
    const called = read((await parley(["call", url, "work", "--json"], { cwd })).stdout);
    const id = String(called["id"]);
    const taskId = String(called["taskId"]);

    const listed = await parley(["tasks", "ls"], { cwd });
    expect(listed.stdout).toMatch(
      new RegExp(`^CALL +TOOL +TASK +STARTED +SERVER\n${id}  work  ${taskId}  .* ago +${url}\n$`),
    );
    const seen = await parley(["tasks", "ls", "--store", target], { cwd });
    expect(seen.stdout).toMatch(
      new RegExp(
        `^TASK +TOOL +STATUS +AGE +OWNER +STATE\n${taskId}  work  input_required  .*  no owner  waits for name\n$`,
      ),
    );
    const stored = read(
      (await parley(["tasks", "get", taskId, "--store", target, "--json"], { cwd })).stdout,
    );
    expect(stored["task"]).toMatchObject({
      owner: null,
      status: "input_required",
      waitsFor: [{ kind: "question", key: "name" }],
      fruitlessClaims: 0,
    });

    const got = await parley(["tasks", "get", id], { cwd });
    expect(got.stdout).toContain(`${taskId}  input_required  packing (1/4)`);
    expect(got.stdout).toContain("? name (form) For whom?\n    name: text\n");

    const watched = await parley(["tasks", "watch", url, taskId], { cwd });
    expect(watched.code).toBe(6);
    expect(watched.stdout).toContain(
      `Continue with: parley tasks watch ${url} ${taskId} --answer name=…\n`,
    );

    const wrong = await parley(["tasks", "answer", url, taskId, "--answer", "nam=x"], { cwd });
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toContain("The task asks name, so nam cannot be answered.");
    const answered = await parley(["tasks", "answer", url, taskId, "--answer", "name=Ada"], {
      cwd,
    });
    expect(answered).toMatchObject({ code: 0, stdout: "Answered: name\n" });
    expect(await parley(["tasks", "watch", url, taskId], { cwd })).toMatchObject({
      code: 0,
      stdout: "Sent to Ada\n",
    });
    expect(await parley(["resume", id], { cwd })).toMatchObject({
      code: 0,
      stdout: "Sent to Ada\n",
    });
    expect((await parley(["tasks", "ls"], { cwd })).stdout).toMatch(
      /^No unfinished tasks in this folder\./,
    );
  },
);

test.each(Object.entries(stores))(
  "cancels a task through its server or in %s, and forgets its call",
  async (_, open) => {
    const cwd = emptyFolder();
    const { store, target } = await open();
    onTestFinished(() => store.close());
    const url = await deskUrl({ store });
    const taskOf = async () =>
      String(read((await parley(["call", url, "work", "--json"], { cwd })).stdout)["taskId"]);
    expect(await parley(["tasks", "cancel", url, await taskOf()], { cwd })).toMatchObject({
      code: 0,
      stdout: "The task is cancelled.\n",
    });
    const second = await taskOf();
    const cancelled = await parley(["tasks", "cancel", second, "--store", target], { cwd });
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining("  cancelled  ") });
    expect((await parley(["resume"], { cwd })).stdout).toBe(
      "No unfinished calls in this folder.\n",
    );
    const watched = await parley(["tasks", "watch", url, second, "--json"], { cwd });
    expect(watched.code).toBe(1);
    expect(read(watched.stdout)).toMatchObject({ error: { code: "task_cancelled" } });
  },
);

test("reports tasks, commands and stores that do not exist", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  expect(await parley(["tasks", "get", url, "nope"], { cwd })).toMatchObject({
    code: 1,
    stderr: "The server does not know this task. It may have expired.\n",
  });
  // The id of another kind of server may begin with a dash.
  expect(await parley(["tasks", "get", url, "-J7XxQ0wT3-kAAAAAAAAAA"], { cwd })).toMatchObject({
    code: 1,
    stderr: "The server does not know this task. It may have expired.\n",
  });
  const said = async (...args: string[]) => (await parley(["tasks", ...args], { cwd })).stderr;
  expect(await said("wach")).toContain(`tasks: unknown command "wach". Did you mean "watch"?`);
  expect(await said("ls", "--store", "none.db")).toContain("There is no store at none.db.");
  // To look at a store is not to change it.
  writeFileSync(join(cwd, "empty.db"), "");
  expect(await said("ls", "--store", "empty.db")).toMatch(
    /^The tables of the store are not up to date: \d+ migrations? missing\. Run: parley migrate empty\.db\n$/,
  );
  expect(statSync(join(cwd, "empty.db")).size).toBe(0);
  writeFileSync(join(cwd, "text.db"), "Nothing of that kind.\n".repeat(100));
  expect(await said("ls", "--store", "text.db")).toBe(
    "text.db is not a readable SQLite store: file is not a database.\n",
  );
});
