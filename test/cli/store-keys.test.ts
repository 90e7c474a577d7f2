// The keys of commands that look into a store: what is recorded with them, and what is said without them or with wrong ones.

import { mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { serve } from "../../src/cli/commands/console.ts";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import { newKey, parseKeys } from "../../src/token/keyring.ts";
import { sealRecord } from "../../src/token/sealed-record.ts";
import { patience } from "../patience.ts";
import { deskUrl, emptyFolder, parley, read, start } from "./run.ts";

const keys = newKey("2026-11-19");
const leavesNoRecord =
  "A cancellation without the keys leaves no record, and `parley audit --check` then names its call.";
const wrongKeys =
  'The keys in .parley/keys open nothing in this store; it uses the key "2026-11-19". Set PARLEY_KEYS, or pass --keys-file.';

/** A store with a task that waits for an answer. `run` runs a command in a folder where there are no keys. */
async function waitingTask() {
  const target = join(emptyFolder(), "tasks.db");
  const store = sqliteStore(target);
  onTestFinished(() => store.close());
  const url = await deskUrl({ store, keys });
  const cwd = emptyFolder();
  const run = (PARLEY_KEYS: string, ...args: string[]) =>
    parley(args, { cwd, env: { PARLEY_KEYS } });
  const begin = async () =>
    String(read((await run(keys, "call", url, "work", "--json")).stdout)["taskId"]);
  const others = () => {
    mkdirSync(join(cwd, ".parley"), { recursive: true });
    writeFileSync(join(cwd, ".parley/keys"), newKey("dev"), { mode: 0o600 });
  };
  return { target, cwd, run, begin, others, task: await begin() };
}

/** What `parley console` says when it starts. */
async function consoleSays(target: string, cwd: string, PARLEY_KEYS = ""): Promise<string> {
  const child = start(["console", target], { cwd, env: { PARLEY_KEYS } });
  const said: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  await vi.waitFor(() => expect(said.join("")).toContain("Open this link"), patience);
  child.kill("SIGTERM");
  return said.join("");
}

describe("a task that is cancelled in its store", () => {
  test("is recorded with the keys, and then the audit is complete", async () => {
    const { target, run, task, begin } = await waitingTask();
    const cancelled = await run(keys, "tasks", "cancel", task, "--store", target);
    expect(cancelled).toMatchObject({ code: 0, stderr: "" });
    const other = await begin();
    const as = ["--principal", "carol"];
    expect((await run(keys, "tasks", "cancel", other, "--store", target, ...as)).code).toBe(0);
    const filter = ["--action", "call_cancelled", "--json"];
    const found = read((await run(keys, "audit", target, ...filter)).stdout)["records"];
    expect(found).toMatchObject([
      { action: "call_cancelled", taskId: task, via: "console", who: userInfo().username },
      { action: "call_cancelled", taskId: other, via: "console", who: "carol" },
    ]);
    // It is over, and is not recorded as cancelled twice.
    await run(keys, "tasks", "cancel", task, "--store", target);
    expect(await run(keys, "audit", target, "--check")).toMatchObject({
      code: 0,
      stdout: "Checked 4 records of 2 calls. Nothing is missing or was changed.\n",
    });
  });

  test("is not recorded without the keys, and the command says so", async () => {
    const { target, run, task } = await waitingTask();
    const cancelled = await run("", "tasks", "cancel", task, "--store", target);
    expect(cancelled).toMatchObject({
      code: 0,
      stderr: `Set PARLEY_KEYS to the keys of the server, or pass --keys-file. ${leavesNoRecord}\n`,
    });
    expect(await run(keys, "audit", target, "--check")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        "What was recorded last was cut off, its process died at that moment, or it was cancelled without the keys.\n",
      ),
    });
  });

  test("is not recorded with the keys of another server", async () => {
    const { target, run, task, others } = await waitingTask();
    others();
    const { stderr } = await run("", "tasks", "cancel", task, "--store", target);
    expect(stderr).toBe(`${wrongKeys} ${leavesNoRecord}\n`);
  });

  test("is not recorded under a name that does not open it", async () => {
    const { target, run, task } = await waitingTask();
    const named = ["--name", "shop"];
    const { stderr } = await run(keys, "tasks", "cancel", task, "--store", target, ...named);
    expect(stderr).toContain(leavesNoRecord);
    const filter = ["--action", "call_cancelled"];
    expect((await run(keys, "audit", target, ...filter)).stdout).toContain("no such records");
  });

  test("is recorded if it was orphaned, and the count says what happens without keys", async () => {
    const { target, run } = await waitingTask();
    const before = new SqliteStore({ path: target, now: () => Date.now() - 600_000 });
    onTestFinished(() => before.close());
    for (const id of ["one", "two"]) {
      const input = sealRecord("{}", "desk/one/input", parseKeys(keys));
      const orphan = { id, callId: id, tool: "gone", principal: "", input, ttlMs: 3_600_000 };
      await before.create({ ...orphan, log: [], inbox: [], claimedBy: undefined }, 100);
    }
    const cancel = ["tasks", "cancel", "--orphaned", "--store", target];
    expect((await run("", ...cancel)).stderr).toContain(leavesNoRecord);
    const { stdout, stderr } = await run(keys, ...cancel, "--yes");
    expect(stdout).toBe("2 tasks cancelled.\n");
    const filter = ["--action", "call_cancelled", "--json"];
    const found = read((await run(keys, "audit", target, ...filter)).stdout)["records"];
    expect(found).toMatchObject([{ callId: "one", taskId: "one" }]);
    // Nothing says that the other one, which does not open, is a task of this server.
    expect(stderr).toContain('These keys do not open the task for a server with the name "desk".');
  });
});

describe("keys that open nothing in a store", () => {
  test("are not used by the console, which says where it has its keys from", async () => {
    const { target, cwd, others } = await waitingTask();
    others();
    expect(await consoleSays(target, cwd)).toBe(
      `${wrongKeys}\nWithout them, the console shows status, tool, times and runs only.\n${leavesNoRecord}\nOpen this link, once. Ctrl-C ends the console of "desk".\n`,
    );
    expect(await consoleSays(target, cwd, keys)).toMatch(/^The keys come from PARLEY_KEYS\.\n/);
  });

  test("are named by the audit, if nobody has passed them", async () => {
    const { target, run, others } = await waitingTask();
    others();
    const { code, stderr } = await run("", "audit", target);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^The keys in \.parley\/keys open nothing in this store; /);
  });

  test("are found out if they have the same id", async () => {
    const { target, cwd } = await waitingTask();
    const said = await consoleSays(target, cwd, newKey("2026-11-19"));
    expect(said).toContain(
      'The keys in PARLEY_KEYS open nothing in this store; it uses another key with the id "2026-11-19".',
    );
  });
});

test("the console names the person whom --principal names, and says what it does not record", async () => {
  const { target, task } = await waitingTask();
  const store = new SqliteStore({ path: target });
  const printed: string[] = [];
  const said: string[] = [];
  const io = {
    out: (text: string) => void printed.push(text),
    err: (text: string) => void said.push(text),
  };
  const served = await serve({ store, name: "desk", port: 0, principal: "carol" }, io);
  onTestFinished(() => served.close());
  const { origin, hash } = new URL(printed.join("").trim());
  const link = new URLSearchParams(hash.slice(1)).get("link");
  const post = (path: string, body: object, session = "") =>
    fetch(`${origin}/api/${path}`, {
      method: "POST",
      headers: { origin, "content-type": "application/json", "parley-session": session },
      body: JSON.stringify(body),
    });
  const opened = await post("session", { link });
  const { session } = (await opened.json()) as { session: string };
  const seen = await fetch(`${origin}/api/session`, { headers: { "parley-session": session } });
  expect(await seen.json()).toMatchObject({ who: "carol" });
  expect((await post(`tasks/${task}/cancel`, {}, session)).status).toBe(200);
  expect(said.at(-1)).toBe(
    "A task was cancelled by carol. The audit does not say so, because this console does not have the keys.\n",
  );
});

test("tasks are listed without keys, and with ones that cannot be read", async () => {
  const { target, run, task } = await waitingTask();
  for (const PARLEY_KEYS of ["", "no keys"]) {
    const { code, stdout } = await run(PARLEY_KEYS, "tasks", "ls", "--store", target);
    expect(code).toBe(0);
    expect(stdout).toContain(task);
  }
});

test("options for a cancellation in a store are refused elsewhere", async () => {
  const cwd = emptyFolder();
  const said = async (...args: string[]) => (await parley(["tasks", ...args], { cwd })).stderr;
  expect(await said("ls", "--principal", "bo")).toContain(
    "tasks ls: --principal is for tasks cancel --store.",
  );
  expect(await said("ls", "--name", "bo", "--store", "x.db")).toContain(
    "--name is for tasks cancel --store.",
  );
});
