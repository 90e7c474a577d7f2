// Without a terminal, the command prints the questions and a reference. Another process answers them.

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parley as app } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { keys as appKeys, quiet } from "../interop/errands.ts";
import { deskUrl, emptyFolder, parley, parleyProcess, read } from "./run.ts";
import { deskFile } from "./where.ts";

describe("a result that is streamed", () => {
  test("is printed as it comes, and then only what is left of it", async () => {
    const cwd = emptyFolder();
    const url = await deskUrl();
    const whole = "Revenue grew. \nIt grew by 5 %.\nSources: none\n";
    const at = { cwd };
    const asked = await parley(["call", url, "report"], at);
    expect(asked).toMatchObject({ code: 6 });
    expect(asked.stdout).toMatch(/^Revenue grew\. \n\? by \(form\) By how much\?\n/);
    const [, id = ""] = /parley resume ([\da-f]{8})/.exec(asked.stdout) ?? [];
    // Another process prints what the first one has printed as well, so that its output is complete.
    const resumed = await parley(["resume", id, "--answer", "by=5 %"], at);
    expect(resumed).toMatchObject({ code: 0, stdout: whole });
    for (const option of [[], ["--no-stream"], ["--quiet"]]) {
      const args = ["call", url, "report", "--answer", "by=5 %", ...option];
      expect(await parley(args, at)).toMatchObject({ code: 0, stdout: whole });
    }
    const json = await parley(["call", url, "report", "--answer", "by=5 %", "--json"], at);
    expect(read(json.stdout)).toMatchObject({ parley: 1, status: "done" });
  });
});

test("the hint says that a typed token is needed again, and never prints it", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const typed = await parley(["call", url, "text", "--token", "s3cret"], { cwd });
  expect(typed.stdout).toMatch(
    /^Resume with: parley resume [\da-f]{8} --token <token> --answer name=…$/m,
  );
  expect(typed.stdout + typed.stderr).not.toContain("s3cret");
  const env = { PARLEY_TOKEN: "s3cret" };
  expect((await parley(["call", url, "text"], { cwd, env })).stdout).not.toContain("--token");
});

test("the hint can be typed where the command was started through npx", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const { stdout } = await parley(["call", url, "text"], { cwd, env: { npm_command: "exec" } });
  // This test runs the source. In the package, it is npx mcp-parley.
  expect(stdout).toMatch(/^Resume with: npx tsx \S+main\.\w+ resume [\da-f]{8} --answer name=…$/m);
});

describe("call, exit 6, resume in another process", () => {
  test("rounds of a server file", async () => {
    const cwd = emptyFolder();
    const called = await parley(["call", deskFile, "rounds"], { cwd });
    expect(called).toMatchObject({ code: 6 });
    expect(called.stdout).toContain("? first (form) First?\n    first: text\n");
    const [, id = ""] =
      /Resume with: parley resume ([\da-f]{8}) --answer first=…/.exec(called.stdout) ?? [];
    expect(called.stderr).toMatch(/① +\d+ ms +asks first/);

    const listed = await parley(["resume"], { cwd });
    expect(listed.stdout).toMatch(new RegExp(`^${id}  rounds  asks first, `));

    const again = await parley(["resume", id, "--answer", "first=Ada"], { cwd });
    expect(again).toMatchObject({ code: 6 });
    expect(again.stdout).toContain("second: a whole number of at least 1");
    expect(again.stderr).toMatch(/① again +asks first\n.*first: Ada \(given\)\n② .*asks second/);

    const misfit = await parley(["resume", id, "--answer", "second=0"], { cwd });
    expect(misfit).toMatchObject({ code: 2 });
    expect(misfit.stderr).toContain(`"second" must be a whole number of at least 1`);

    const done = await parley(["resume", id, "--answer", "second=2"], { cwd });
    expect(done).toMatchObject({ code: 0, stdout: "Ada 2\n" });
    expect((await parley(["resume"], { cwd })).stdout).toBe(
      "No unfinished calls in this folder.\n",
    );
    expect(readdirSync(join(cwd, ".parley/calls"))).toEqual([]);
  });

  test("a task, by its whole reference, from another folder", async () => {
    const cwd = emptyFolder();
    const called = read((await parley(["call", deskFile, "work", "--json"], { cwd })).stdout);
    expect(called).toMatchObject({
      parley: 1,
      status: "inputNeeded",
      tool: "work",
      server: { name: "desk", era: "2026-07-28" },
      questions: [{ key: "name", kind: "form", message: "For whom?" }],
      taskId: expect.any(String),
      totals: { rounds: 2 },
    });
    const elsewhere = emptyFolder();
    const args = ["resume", String(called["ref"]), "--answer", "name=Ada", "--json"];
    // A reference may come from another person, and this one would start a program.
    const refused = await parley(args, { cwd: elsewhere });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(`would start a program: ${deskFile}\n`);
    const done = await parley([...args, "--trust"], { cwd: elsewhere });
    expect(done.code).toBe(0);
    expect(read(done.stdout)).toMatchObject({
      status: "done",
      result: { content: [{ type: "text", text: "Sent to Ada" }] },
    });
  });

  test("a call of a URL, with answers in a file; headers and tokens are not kept", async () => {
    const shop = app({ name: "there", version: "1.0.0", keys: appKeys, logger: quiet });
    const seen: (string | null)[] = [];
    shop.tool(
      "buy",
      { description: "Asks", inputSchema: z.object({ n: z.int() }) },
      async ({ n }, ctx) => {
        seen.push(ctx.request?.headers?.get("x-secret") ?? null);
        const { size, colour } = await ctx.ask(
          "what",
          "What?",
          z.object({ size: z.enum(["S", "L"]), colour: z.string() }),
        );
        return (await ctx.confirm("sure", "Sure?")) ? `${n} ${size} ${colour}` : "no";
      },
    );
    const { url } = await shop.listen(0);
    onTestFinished(() => shop.close());
    const cwd = emptyFolder();
    writeFileSync(
      join(cwd, "answers.json"),
      JSON.stringify({ what: { size: "L", colour: "red" }, sure: { action: "decline" } }),
    );
    const all = [
      "call",
      `${url}?key=hidden`,
      "buy",
      "n=3",
      "--header",
      "X-Secret: hush",
      "--token",
      "t0ken",
    ];
    const open = await parley(all, { cwd });
    expect(open.code).toBe(6);
    const [file = ""] = readdirSync(join(cwd, ".parley/calls"));
    const path = join(cwd, ".parley/calls", file);
    const kept = readFileSync(path, "utf8");
    const [, where = "", , state = ""] = kept.split(".");
    const clear =
      Buffer.from(where, "base64url").toString() + Buffer.from(state, "base64url").toString();
    expect(clear).toContain(new URL(url).host);
    expect(clear).not.toMatch(/hush|t0ken|hidden/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(cwd, ".parley/.gitignore"), "utf8")).toBe("*\n");

    const done = await parley([...all, "--answers", "answers.json", "--no-journal"], { cwd });
    expect(done).toMatchObject({ code: 0, stdout: "no\n" });
    expect(done.stderr).toContain("what: L, red (given)");
    expect(done.stderr).toContain("sure: declined (given)");
    expect(seen).toContain("hush");
  });
});

describe("arguments", () => {
  test("follow the tool's schema, and can come from a file", async () => {
    const cwd = emptyFolder();
    const url = await deskUrl();
    writeFileSync(join(cwd, "args.json"), JSON.stringify({ item: "tea", seats: 9 }));
    const args = [
      "call",
      url,
      "echo",
      "--args",
      "args.json",
      "seats=2",
      "tags=a,b",
      "gift=yes",
      "--quiet",
    ];
    const { stdout, stderr } = await parley(args, { cwd });
    expect(JSON.parse(stdout)).toEqual({ item: "tea", seats: 2, tags: ["a", "b"], gift: true });
    expect(stderr).toBe("");
    const piped = await parleyProcess(["call", url, "echo", "--args", "-"], {
      cwd,
      stdin: `{"item":"x"}`,
    });
    expect(JSON.parse(piped.stdout)).toEqual({ item: "x" });
  });

  test("with -v the log messages of a call are shown, and without it they are not requested", async () => {
    const url = await deskUrl();
    const cwd = emptyFolder();
    const without = await parley(["call", url, "count"], { cwd });
    expect(without.stderr).not.toContain("notice");
    const { stderr, stdout } = await parley(["call", url, "count", "-v"], { cwd });
    expect(stderr).toContain("\n   notice sending now\n");
    expect(stderr).toContain('\n   debug {"parcels":2}\n');
    expect(stdout).toBe("sent\n");
  });

  test("without a terminal, a question shows what each field is for", async () => {
    const { stdout } = await parley(["call", await deskUrl(), "formats"], { cwd: emptyFolder() });
    expect(stdout).toContain("    mail: an email address\n");
    expect(stdout).toMatch(/^ {4}site: .* \(with https\)$/m);
    expect(stdout).toMatch(/^ {4}at: .* \(Time\)$/m);
  });

  test("a wrong name is reported, with a suggestion", async () => {
    const url = await deskUrl();
    const cwd = emptyFolder();
    const wrong: [string[], string][] = [
      [["echo", "itm=x"], `The tool has no argument "itm". Did you mean "item"?`],
      [["ecko"], `The server has no tool "ecko". Did you mean "echo"? It has `],
    ];
    for (const [words, sentence] of wrong) {
      const { code, stderr, stdout } = await parley(["call", url, ...words], { cwd });
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(sentence);
    }
  });
});

describe("a server that is started here", () => {
  test("may listen, and is recognised by its name after its port has changed", async () => {
    const cwd = emptyFolder();
    const env = { LISTEN: "1" };
    const called = await parley(["call", deskFile, "text", "--json"], { cwd, env });
    expect(called.code).toBe(6);
    const args = ["resume", String(read(called.stdout)["id"]), "--answer", "name=Ada"];
    expect(await parley(args, { cwd, env })).toMatchObject({ code: 0, stdout: "Hello, Ada\n" });
  });

  test("can be a command, after -- or in quotes", async () => {
    const cwd = emptyFolder();
    const command = [process.execPath, deskFile];
    const after = await parley(["call", "echo", "item=x", "--", ...command], { cwd });
    expect(after).toMatchObject({ code: 0, stdout: `{"item":"x"}\n` });
    const listed = await parley(["list", command.join(" ")], { cwd });
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(/^desk \(1\.0\.0, 2026-07-28, tasks\)\n/);
    expect(listed.stdout).toContain(
      "  echo\n    Says what it was given\n      item: text\n      seats: a whole number, optional\n",
    );
  });

  test("a failed call leaves nothing in the journal", async () => {
    const cwd = emptyFolder();
    const url = await deskUrl();
    const failed = await parley(["call", url, "fail", "--json"], { cwd });
    expect(failed.code).toBe(1);
    expect(read(failed.stdout)).toMatchObject({ status: "failed", result: { isError: true } });
    expect(readdirSync(join(cwd, ".parley/calls"))).toEqual([]);
    const none = await parley(["call", url, "text", "--no-journal"], { cwd: emptyFolder() });
    expect(none.stdout).toMatch(/parley resume --answer name=… at1\.[\w.-]+\n/);
    expect(existsSync(join(cwd, "none"))).toBe(false);
  });
});
