// When something goes wrong, the command says so in one sentence, uses the right exit code, and loses nothing.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { describe, expect, onTestFinished, test } from "vitest";
import { desk } from "./desk.ts";
import { keys as deskKeys, quiet } from "../interop/errands.ts";
import { deskUrl, emptyFolder, parley, parleyProcess, read, start } from "./run.ts";
import { deskFile } from "./where.ts";

async function sentence(args: readonly string[], cwd = emptyFolder()) {
  const { code, stdout, stderr } = await parley(args, { cwd });
  return { code, stdout, said: stderr.trim().split("\n").at(-1) };
}

describe("the server", () => {
  test("is down", async () => {
    expect(await sentence(["call", "http://127.0.0.1:47/mcp", "x"])).toEqual({
      code: 1,
      stdout: "",
      said: expect.stringMatching(
        /^The server cannot be reached \(.*\)\. Check that it is running and that its address is right\.$/,
      ),
    });
  });

  test("is not an MCP server", async () => {
    const page = createServer((_, response) =>
      response.setHeader("Content-Type", "text/html").end("<p>Hello</p>"),
    );
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void page.close());
    const address = page.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { code, stdout } = await parley(["call", `http://127.0.0.1:${port}/`, "x", "--json"], {
      cwd: emptyFolder(),
    });
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({ status: "failed", error: { code: "bad_response" } });
  });

  test("goes down between two rounds: the call is kept", async () => {
    const app = desk({ keys: deskKeys, logger: quiet });
    const { url } = await app.listen(0);
    const cwd = emptyFolder();
    expect((await parley(["call", url, "text"], { cwd })).code).toBe(6);
    await app.close();
    const [id = ""] = (await parley(["resume"], { cwd })).stdout.split(" ");
    const down = await parley(["resume", id, "--answer", "name=Ada"], { cwd });
    expect(down).toMatchObject({ code: 1 });
    expect((await parley(["resume"], { cwd })).stdout).toContain(id);
    const back = desk({ keys: deskKeys, logger: quiet });
    await back.listen(Number(new URL(url).port));
    onTestFinished(() => back.close());
    const done = await parley(["resume", id, "--answer", "name=Ada"], { cwd });
    expect(done).toMatchObject({ code: 0, stdout: "Hello, Ada\n" });
  });

  test("takes too long", async () => {
    const said = await sentence(["call", await deskUrl(), "slow", "--timeout", "300ms"]);
    expect(said).toMatchObject({ code: 7 });
  });

  test("exits at once, or does not exist", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "broken.mjs"), `throw new Error("no such table");`);
    const { code, stderr } = await parley(["call", "broken.mjs", "x"], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^broken\.mjs exited with code 1\. It printed:\n[^]*Error: no such table/,
    );
    expect(await sentence(["call", "missing.mjs", "x"], cwd)).toMatchObject({ code: 2 });
  });

  test("is an ES module in a package that is not", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "server.ts"), "await Promise.resolve();");
    const env = { NODE_PATH: join(import.meta.dirname, "../../node_modules") };
    const { code, stderr } = await parleyProcess(["list", "server.ts"], { cwd, env });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /\nThe file is an ES module, but its package is not\. Run: npm pkg set type=module\n$/,
    );
  });

  test("is already running on its port", async () => {
    const { port } = new URL(await deskUrl());
    const cwd = emptyFolder();
    const taken = `import { createServer } from "node:http";
      createServer().listen(${port}, "127.0.0.1");`;
    writeFileSync(join(cwd, "taken.mjs"), taken);
    const { stderr } = await parley(["list", "taken.mjs"], { cwd });
    expect(stderr).toContain(
      `If the server is already running, use http://127.0.0.1:${port}/mcp instead.`,
    );
  });
});

describe("the state of a call", () => {
  test("is too old, or its key is gone", async () => {
    const cwd = emptyFolder();
    const young = await deskUrl({ limits: { tokenTtlMs: 1 } });
    expect((await parley(["call", young, "text"], { cwd })).code).toBe(6);
    const [id = ""] = (await parley(["resume"], { cwd })).stdout.split(" ");
    const late = await parley(["resume", id, "--answer", "name=Ada"], { cwd });
    expect(late.code).toBe(1);
    expect(late.stderr).toContain("too much time has passed or its keys have changed");

    const app = desk({ keys: deskKeys, logger: quiet });
    const { url } = await app.listen(0);
    const { ref } = read((await parley(["call", url, "text", "--json"], { cwd })).stdout);
    await app.close();
    const other = desk({
      keys: `other:${Buffer.alloc(32, 7).toString("base64url")}`,
      logger: quiet,
    });
    await other.listen(Number(new URL(url).port));
    onTestFinished(() => other.close());
    const refused = await parley(["resume", String(ref), "--answer", "name=Ada", "--json"], {
      cwd,
    });
    expect(refused.code).toBe(1);
    expect(read(refused.stdout)).toMatchObject({ error: { code: "state_refused" } });
    // Another server, or another token, may be able to continue it.
    await other.close();
    const back = desk({ keys: deskKeys, logger: quiet });
    await back.listen(Number(new URL(url).port));
    onTestFinished(() => back.close());
    const done = await parley(["resume", String(ref), "--answer", "name=Ada"], { cwd });
    expect(done).toMatchObject({ code: 0, stdout: "Hello, Ada\n" });
  });

  test("is in the journal after a refusal, until it is forgotten", async () => {
    const cwd = emptyFolder();
    const app = desk({ keys: deskKeys, logger: quiet });
    const { url } = await app.listen(0);
    const { id } = read((await parley(["call", url, "text", "--json"], { cwd })).stdout);
    await app.close();
    const key = `other:${Buffer.alloc(32, 7).toString("base64url")}`;
    const other = desk({ keys: key, logger: quiet });
    await other.listen(Number(new URL(url).port));
    onTestFinished(() => other.close());
    const refused = await parley(["resume", String(id), "--answer", "name=Ada"], { cwd });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`Resume with: parley resume ${String(id)}\n`);
    expect((await parley(["resume"], { cwd })).stdout).toContain(String(id));
    await parley(["resume", "--forget", String(id)], { cwd });
    expect(readdirSync(join(cwd, ".parley/calls"))).toEqual([]);
  });

  test("of a 2025-11-25 task is resumed by the hint that the call printed", async () => {
    const cwd = emptyFolder();
    const url = await deskUrl();
    const called = await parley(["call", url, "work", "--as", "legacy"], { cwd });
    expect(called.code).toBe(6);
    const [, hint = "", key] = /with: parley (.*) --answer (\S+)=…/.exec(called.stdout) ?? [];
    const words = [...hint.split(" "), "--answer", `${key}=Ada`];
    // A wrong version is refused, and nothing is lost.
    expect((await parley([...words, "--as", "modern"], { cwd })).code).toBe(2);
    expect(await parley(words, { cwd })).toMatchObject({ code: 0, stdout: "Sent to Ada\n" });
  });

  test("is not a reference, or is incomplete", async () => {
    const cwd = emptyFolder();
    const wrong = {
      "parley1.e30": "This is not a complete reference to a call. Copy all of it.",
      "at1.e30.parley1.e30": "This is not a complete reference to a call. Copy all of it.",
      "0badcafe": "No unfinished call 0badcafe in .parley/calls.",
      "nonsense!": `"nonsense!" is not the id or the reference of a call.`,
    };
    for (const [text, expected] of Object.entries(wrong)) {
      const { code, stderr } = await parley(["resume", text], { cwd });
      expect(code).toBe(2);
      expect(stderr).toContain(expected);
    }
  });
});

describe("the journal", () => {
  /** A disk of 64 kB. Only root can mount it, and only on Linux. */
  function smallDisk(): string | undefined {
    const folder = join(emptyFolder(), "disk");
    mkdirSync(folder);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], {
        stdio: "ignore",
      });
    } catch {
      return undefined;
    }
    onTestFinished(() => void execFileSync("umount", ["-l", folder]));
    return folder;
  }

  test("is on a full disk: nothing is sent", async ({ skip }) => {
    const folder = smallDisk();
    if (folder === undefined) return skip("no disk can be made here");
    fill(folder, "a");
    const url = await deskUrl();
    const full = await sentence([
      "call",
      url,
      "echo",
      "item=x",
      "--journal",
      join(folder, "calls"),
    ]);
    expect(full).toEqual({
      code: 1,
      stdout: "",
      said: expect.stringMatching(
        /the disk is full\), so nothing was sent\. Choose another folder with --journal, or pass --no-journal\.$/,
      ),
    });
  });

  test("is full when a call is resumed: the call is kept as it was", async ({ skip }) => {
    const folder = smallDisk();
    if (folder === undefined) return skip("no disk can be made here");
    const cwd = emptyFolder();
    const url = await deskUrl();
    const journal = join(folder, "calls");
    expect((await parley(["call", url, "text", "--journal", journal], { cwd })).code).toBe(6);
    const [name = ""] = readdirSync(journal);
    const filled = fill(folder, "b");
    const args = ["resume", name.slice(0, 8), "--journal", journal, "--answer", "name=Ada"];
    const full = await parley(args, { cwd });
    expect(full).toMatchObject({ code: 1, stdout: "" });
    expect(full.stderr).toContain("the disk is full), so nothing was sent.");
    for (const file of filled) rmSync(file);
    expect(await parley(args, { cwd })).toMatchObject({ code: 0, stdout: "Hello, Ada\n" });
  });

  function fill(folder: string, name: string): string[] {
    const files: string[] = [];
    for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
      const file = join(folder, `${name}${size}`);
      files.push(file);
      try {
        writeFileSync(file, Buffer.alloc(size));
      } catch {
        // At this size the disk is full.
      }
    }
    return files;
  }

  test("cannot be written to", async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, "file"), "");
    const said = await sentence(
      ["call", await deskUrl(), "echo", "item=x", "--journal", "file/calls"],
      cwd,
    );
    expect(said.code).toBe(1);
    expect(said.said).toContain("so nothing was sent");
  });
});

describe("the server that was started stops", () => {
  /** A server that prints its process id first. */
  function prints(cwd: string): string {
    const file = join(cwd, "server.mjs");
    writeFileSync(
      file,
      `console.error("pid", process.pid);\nawait import(${JSON.stringify(deskFile)});\n`,
    );
    return file;
  }

  const isAlive = (pid: number) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  test.each(["SIGKILL", "SIGINT"] as const)("with the command, by %s", async (signal) => {
    const cwd = emptyFolder();
    const env = { LISTEN: "1" };
    const child = start(["call", prints(cwd), "slow", "--verbose"], { cwd, env });
    let pid = 0;
    for await (const line of createInterface({ input: child.stderr })) {
      const [, found] = /pid (\d+)/.exec(line) ?? [];
      if (found !== undefined) pid = Number(found);
      if (line.startsWith("slow")) break;
    }
    expect(isAlive(pid)).toBe(true);
    child.kill(signal);
    const [code] = await once(child, "exit");
    if (signal === "SIGINT") expect(code).toBe(130);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});
