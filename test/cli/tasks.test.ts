// `parley tasks`, through the server of a task and directly in its store.

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { keys } from "../interop/errands.ts";
import { freshDatabase } from "../postgres/database.ts";
import { defaultTaskLimits } from "../../src/tasks/limits.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import { deskUrl, emptyFolder, parley, read } from "./run.ts";

interface Stored {
  readonly store: Store;
  /** The name of the store on the command line. */
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
      stepsToUndo: 0,
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
    const alone = await parley(["tasks", "get", second], { cwd });
    expect(alone.stderr).toContain(
      `No unfinished call ${second} in .parley/calls. If it is a task, pass its server first: parley tasks get <target> ${second}\n`,
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
    stderr:
      "The server does not know this task. It may have expired, it belongs to someone else, or this is not its whole id.\n",
  });
  // Another server may make ids that begin with a dash.
  expect(await parley(["tasks", "get", url, "-J7XxQ0wT3-kAAAAAAAAAA"], { cwd })).toMatchObject({
    code: 1,
    stderr:
      "The server does not know this task. It may have expired, it belongs to someone else, or this is not its whole id.\n",
  });
  const said = async (...args: string[]) => (await parley(["tasks", ...args], { cwd })).stderr;
  expect(await said("wach")).toContain(`tasks: unknown command "wach". Did you mean "watch"?`);
  expect(await said("ls", "--store", "none.db")).toContain("There is no store at none.db.");
  expect(await said("get", "fcfb49a7")).toContain(
    "If it is a task, pass its server first: parley tasks get <target> <id of the task>\n",
  );
  for (const command of [["tasks", "ls", "--store"], ["audit"], ["console"], ["migrate"]]) {
    const ran = await parley([...command, url], { cwd, env: { PARLEY_KEYS: String(keys) } });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain(
      `${url} is a server, not a store. This command needs a store; use \`tasks get\`, \`watch\`, \`answer\` or \`cancel\` with this address.\n`,
    );
  }
  // Looking at a store does not change it.
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

describe("in a store whose workers are gone", () => {
  /** A store in a file. Its clock is behind by this much, so that what happens in it looks long past. */
  async function longAgo(msAgo: number) {
    const target = join(emptyFolder(), "tasks.db");
    const store = new SqliteStore({ path: target, now: () => Date.now() - msAgo });
    await store.migrate();
    onTestFinished(() => store.close());
    const create = async (id: string, tool: string, claimedBy?: string) => {
      const lease = claimedBy === undefined ? undefined : { worker: claimedBy, leaseMs: 10_000 };
      const task = { id, callId: `call-${id}`, tool, principal: "", input: "i", ttlMs: 3_600_000 };
      await store.create({ ...task, log: ["one"], inbox: [], claimedBy: lease }, 100);
      return { id, epoch: lease === undefined ? 0 : 1 };
    };
    const run = (...args: string[]) =>
      parley(["tasks", ...args, "--store", target], { cwd: emptyFolder() });
    return { target, store, create, run };
  }

  test("counts orphaned tasks, and requeues or cancels them with --yes", async () => {
    const { store, create, run } = await longAgo(600_000);
    await create("due-1", "bake");
    await create("due-2", "bake");
    await create("held", "fry", "gone");
    const asking = await create("asking", "bake", "w");
    const wait = {
      kind: "question",
      key: "size",
      wire: "size",
      digest: "d",
      request: "r",
    } as const;
    await store.park(asking, { waits: [wait], asked: { size: 1 }, taken: [] });
    const before = await Promise.all(["due-1", "held", "asking"].map((id) => store.read(id)));

    const preview = await run("cancel", "--orphaned");
    expect(preview).toMatchObject({ code: 0 });
    expect(preview.stdout).toBe(
      "3 tasks are orphaned: due for more than 30 s, and no worker has taken them up.\n" +
        "  2  bake\n  1  fry\n" +
        "Nothing was changed. Run the command again with --yes to cancel them.\n",
    );
    expect(await Promise.all(["due-1", "held", "asking"].map((id) => store.read(id)))).toEqual(
      before,
    );
    expect((await run("ls")).stdout).toMatch(
      /^held .* {2}held by gone, whose lease ended \d+ min .* ago, no worker takes it up$/m,
    );
    expect(read((await run("requeue", "--orphaned", "--json")).stdout)).toMatchObject({
      orphaned: 3,
      byTool: { bake: 2, fry: 1 },
      requeued: 0,
    });

    expect((await run("requeue", "--orphaned", "--yes")).stdout).toBe("3 tasks requeued.\n");
    expect(await store.read("held")).toMatchObject({ worker: undefined, fruitless: 0, epoch: 2 });
    expect((await run("cancel", "--orphaned", "--yes")).stdout).toBe(
      "The store has no orphaned tasks.\n",
    );
    await create("due-3", "fry");
    expect(read((await run("cancel", "--orphaned", "--yes", "--json")).stdout)).toMatchObject({
      orphaned: 1,
      cancelled: 1,
    });
    expect(await store.read("due-3")).toMatchObject({ status: "cancelled" });
    expect(await store.read("asking")).toEqual(before[2]);
  });

  test("requeues a task that was given up, and says why it refuses another", async () => {
    const { store, create, run } = await longAgo(0);
    const { fruitlessClaims, keepMs } = defaultTaskLimits;
    let stuck = await create("stuck", "bake", "w");
    for (let claims = 0; claims < fruitlessClaims; claims += 1) {
      await store.release(stuck, { afterMs: 0, isFruitless: true, cause: "c" });
      const wanted = { worker: "w", tools: ["bake"], most: 1, leaseMs: 10_000 };
      stuck = (await store.claim(wanted)).claimed[0]!.task;
    }
    const end = { result: "r", statusMessage: undefined, keepMs };
    await store.finish(stuck, { status: "failed", ...end });
    expect(await run("requeue", "stuck")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^stuck {2}bake {2}working {2}/),
    });
    expect(await store.read("stuck")).toMatchObject({ status: "working", fruitless: 0 });
    expect(await store.readLog("stuck")).toEqual(["one"]);

    await store.finish(await create("failed", "bake", "w"), { status: "failed", ...end });
    await store.finish(await create("completed", "bake", "w"), { status: "completed", ...end });
    await store.cancel((await create("cancelled", "bake")).id, keepMs);
    await create("held", "bake", "w");
    const refusals = {
      failed:
        "The task failed with an error of its own, so it is not run again. Call the tool again.",
      completed: "The task is completed, so it is not run again.",
      cancelled: "The task is cancelled, so it is not run again.",
      held: expect.stringMatching(
        /^Worker w holds the task, for another \d.* when this time is over\.$/,
      ),
      nobody:
        'The store has no task whose id begins with "nobody". It may have been forgotten. parley tasks ls --store … shows its tasks.',
    };
    for (const [id, message] of Object.entries(refusals)) {
      const { code, stderr } = await run("requeue", id);
      expect({ code, message: stderr.trim() }).toEqual({ code: 1, message });
    }
  });

  test("finds a task by the beginning of its id, as the log has it", async () => {
    const { store, create, run } = await longAgo(0);
    await create("58f1ca-one", "bake");
    // The newest is named first. Of two that were created in one millisecond, it is the one with the greater id.
    await create("58f1cb-three", "bake");
    await create("58f1cb-two", "bake");
    expect((await run("get", "58f1ca")).stdout).toMatch(/^58f1ca-one {2}bake/);
    expect((await run("get", "58f1ca…")).stdout).toMatch(/^58f1ca-one {2}bake/);
    expect((await run("cancel", "58f1ca")).code).toBe(0);
    expect(await store.read("58f1ca-one")).toMatchObject({ status: "cancelled" });
    const many = await run("cancel", "58f1cb");
    expect(many).toMatchObject({ code: 2, stdout: "" });
    expect(many.stderr).toContain(
      '2 tasks have an id that begins with "58f1cb": 58f1cb-two, 58f1cb-three. Pass more of the id.\n',
    );
    expect((await run("get", "58f1c")).stderr).toBe(
      'The store has no task with the id "58f1c". It may have been forgotten. parley tasks ls --store … shows the ids.\n',
    );
  });

  test("says of an orphaned task that it requeues whether anyone will run it", async () => {
    const { target, create, run } = await longAgo(600_000);
    await create("alone1", "bake");
    expect((await run("requeue", "alone1")).stderr).toBe(
      "No worker runs, so it stays due until one does.\n",
    );
    const store = new SqliteStore({ path: target });
    onTestFinished(() => store.close());
    await store.renew("w@1.0.0", [], 10_000);
    const stays =
      "1 worker runs, and none had taken it up. If no worker has the tool bake, it stays due.\n";
    await create("alone2", "bake");
    expect((await run("requeue", "alone2")).stderr).toBe(stays);
    await create("alone3", "bake");
    expect(await run("requeue", "--orphaned", "--yes")).toMatchObject({
      stdout: "1 task requeued.\n",
      stderr: stays,
    });
  });

  test("does not change all tasks by mistake", async () => {
    const { run } = await longAgo(0);
    expect(await run("requeue")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("tasks requeue: pass the id of a task."),
    });
    expect(await run("cancel", "task", "--orphaned")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("pass the id of a task or --orphaned, not both."),
    });
    const { stderr } = await parley(["tasks", "requeue", "task"], { cwd: emptyFolder() });
    expect(stderr).toContain(
      "tasks requeue needs --store, because the protocol has no such request.",
    );
  });
});
