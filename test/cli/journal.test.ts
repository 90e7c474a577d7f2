// The calls that a folder keeps: how they are forgotten, how a process holds the call that it continues, and how a
// wrong clock is handled.

import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { form, hostile } from "../../src/client/hostile.fixture.ts";
import { referenceTo, stateOf } from "../../src/client/reference.ts";
import { referenceAt } from "../../src/cli/journal/reference.ts";
import { deskUrl, emptyFolder, parley, start } from "./run.ts";

const folder = ".parley/calls";

/** A call that waits for its first answer, in the journal of a folder. */
async function left(url: string, cwd = emptyFolder()) {
  expect((await parley(["call", url, "text"], { cwd })).code).toBe(6);
  const [file = ""] = readdirSync(join(cwd, folder));
  const path = join(cwd, folder, file);
  const [, , , , ...ref] = readFileSync(path, "utf8").split(".");
  return { cwd, path, id: file.slice(0, 8), state: stateOf(ref.join(".")) };
}

test("lists hundreds of calls, and forgets them by age or by id", async () => {
  const url = await deskUrl();
  const { cwd, id, state } = await left(url);
  const dayMs = 86_400_000;
  for (let day = 1; day <= 300; day += 1) {
    const old = { ...state, id: crypto.randomUUID(), since: state.since - day * dayMs };
    const text = referenceAt({ kind: "url", url }, referenceTo(old));
    writeFileSync(join(cwd, folder, `${old.id}.call`), text);
  }
  const listed = async () => (await parley(["resume"], { cwd })).stdout.trim().split("\n");
  const all = await listed();
  expect(all).toHaveLength(301);
  expect(all[0]).toContain("asks name, 300 days ago");
  const forgotten = await parley(["resume", "--forget", "--older", "7d"], { cwd });
  expect(forgotten).toMatchObject({
    code: 0,
    stdout: "Removed 294 calls from the journal. Servers were not informed.\n",
  });
  expect(await listed()).toHaveLength(7);
  expect((await parley(["resume", "--forget", id], { cwd })).code).toBe(0);
  expect((await listed()).join()).not.toContain(id);
  for (const words of [["--forget"], ["--forget", id, "--older", "1d"], ["--older", "1d"]]) {
    expect((await parley(["resume", ...words], { cwd })).code).toBe(2);
  }
});

test("shows a call from the future as just started", async () => {
  const url = await deskUrl();
  const { cwd, path, state } = await left(url);
  const ahead = { ...state, since: Date.now() + 3_600_000 };
  writeFileSync(path, referenceAt({ kind: "url", url }, referenceTo(ahead)));
  expect((await parley(["resume"], { cwd })).stdout).toContain("asks name, 0 ms ago");
});

test("two processes cannot continue the same call at the same time", async () => {
  const url = await deskUrl();
  const cwd = emptyFolder();
  const first = start(["call", url, "slow"], { cwd });
  for await (const line of createInterface({ input: first.stderr })) if (line === "slow") break;
  await expect
    .poll(() => readdirSync(join(cwd, folder)).filter((name) => name.endsWith(".call")))
    .toHaveLength(1);
  const [name = ""] = readdirSync(join(cwd, folder));
  const again = ["resume", name.slice(0, 8), "--timeout", "500ms"];
  const second = await parley(again, { cwd });
  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(second.stderr).toContain(
    `Process ${first.pid} is running this call now, so nothing was sent.`,
  );
  // Once that process has ended, for any reason, another may continue the call.
  first.kill("SIGKILL");
  await new Promise((resolve) => first.once("exit", resolve));
  expect((await parley(again, { cwd })).code).toBe(7);
});

test("ignores a lock from before the machine was started", async () => {
  const url = await deskUrl();
  const { cwd, path, id } = await left(url);
  const held = path.replace(/call$/, "held");
  // The id of a process that runs now.
  writeFileSync(held, String(process.ppid));
  const resumed = ["resume", id, "--answer", "name=Ada"];
  expect((await parley(resumed, { cwd })).code).toBe(1);
  utimesSync(held, new Date(0), new Date(0));
  expect(await parley(resumed, { cwd })).toMatchObject({ code: 0, stdout: "Hello, Ada\n" });
  expect(readdirSync(join(cwd, folder))).toEqual([]);
});

describe("a call that this person did not start here", () => {
  async function asking() {
    const { url, heard, close } = await hostile(({ method }) =>
      method === "tools/list"
        ? { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [] }
        : {
            resultType: "input_required",
            requestState: "s",
            inputRequests: { name: form("Who?") },
          },
    );
    onTestFinished(close);
    return { url, heard };
  }

  test("does not receive PARLEY_TOKEN", async () => {
    const { url, heard } = await asking();
    const { cwd, id } = await left(url);
    const ref = (await parley(["resume", id, "--print"], { cwd })).stdout.trim();
    const told = async (
      words: readonly string[],
      at: string,
      more: Record<string, string> = {},
    ) => {
      heard.length = 0;
      const args = ["resume", ...words, "--answer", "name=Ada", "--no-journal"];
      const env = { PARLEY_TOKEN: "secret", ...more };
      const { stderr } = await parley(args, { cwd: at, env });
      expect(heard).not.toEqual([]);
      const isTold = heard.some(({ headers }) => headers.authorization === "Bearer secret");
      expect(stderr.includes("PARLEY_TOKEN is not sent")).toBe(!isTold);
      return isTold;
    };
    expect(await told([ref], emptyFolder())).toBe(false);
    expect(await told([ref, "--trust"], emptyFolder())).toBe(true);
    expect(await told([ref, "--server", url], emptyFolder())).toBe(true);
    expect(await told([ref], cwd)).toBe(true);
    expect(await told([id], cwd)).toBe(true);
    // As if the journal had come with a repository.
    const other = { XDG_CONFIG_HOME: emptyFolder() };
    expect(await told([id], cwd, other)).toBe(false);
    expect(await told([ref], cwd, other)).toBe(false);
    expect(await told([id, "--trust"], cwd, other)).toBe(true);
  });

  test("is never a reason to start a program, whatever the command", async () => {
    const { url } = await asking();
    const { cwd, path, id, state } = await left(url);
    const target = { kind: "command", command: "touch", args: ["ran"], cwd } as const;
    const forged = referenceAt(target, referenceTo({ ...state, taskId: "t" }));
    // With the mark of another call or of another person, or without a mark.
    const mark = readFileSync(path, "utf8").split(".").slice(0, 2).join(".");
    for (const text of [forged, `${mark}.${forged}`]) {
      writeFileSync(path, text);
      for (const words of [
        ["resume", id],
        ["tasks", "get", id],
        ["tasks", "watch", id],
        ["tasks", "cancel", id],
        ["tasks", "answer", id, "--answer", "name=Ada"],
      ]) {
        const { code, stderr } = await parley(words, { cwd });
        expect(stderr).toContain(
          "it would start a program: touch ran\nIf you trust it, add --trust.",
        );
        expect(code).toBe(2);
      }
    }
    expect(readdirSync(cwd)).not.toContain("ran");
    await parley(["tasks", "get", id, "--trust"], { cwd });
    expect(readdirSync(cwd)).toContain("ran");
  });
});
