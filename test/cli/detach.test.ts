// Calls that are started and left: `--detach`, and a `--timeout` that is over while a task waits.

import { expect, test } from "vitest";
import { deskUrl, emptyFolder, parley, read } from "./run.ts";

test("--detach leaves as soon as the call is a task, prints its id, and another command goes on", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const left = await parley(["call", url, "work", "--detach"], { cwd });
  expect(left).toMatchObject({ code: 0 });
  const [, taskId = ""] = /^([\da-f]{32})\n$/.exec(left.stdout) ?? [];
  expect(left.stderr).toContain(`task ${taskId}\n`);
  const [, id = ""] =
    /^The task goes on without this command\.\nResume with: parley resume ([\da-f]{8})$/m.exec(
      left.stderr,
    ) ?? [];
  const again = await parley(["resume", id, "--detach"], { cwd });
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is a task already") as string,
  });
  expect(await parley(["resume", id, "--answer", "name=Ada"], { cwd })).toMatchObject({
    code: 0,
    stdout: "Sent to Ada\n",
  });
});

test("--detach as JSON", async () => {
  const ran = await parley(["call", await deskUrl(), "work", "--detach", "--json"], {
    cwd: emptyFolder(),
  });
  expect(ran.code).toBe(0);
  expect(read(ran.stdout)).toMatchObject({
    status: "detached",
    tool: "work",
    taskId: expect.stringMatching(/^[\da-f]{32}$/) as string,
    id: expect.any(String) as string,
  });
});

test("--detach says so if the call ended before it became a task", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const ran = await parley(["call", url, "echo", "item=lamp", "--detach"], { cwd });
  expect(ran).toMatchObject({ code: 0, stdout: '{"item":"lamp"}\n' });
  expect(ran.stderr).toContain("The call ended before it became a task.");
});

test("--detach refuses a server that would stop with the command", async () => {
  const words = ["call", "work", "--detach", "--", "node", "server.js"];
  const ran = await parley(words, { cwd: emptyFolder() });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toContain("--detach needs the URL of a server that runs by itself.");
});

test("a --timeout that is over while a task waits says that the task goes on, and how to resume", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const ran = await parley(["call", url, "nap", "--answer", "hours=1", "--timeout", "500ms"], {
    cwd,
  });
  expect(ran.code).toBe(7);
  expect(ran.stderr).toContain(
    "The task took longer than --timeout allows (500 ms). It goes on without this command.\nResume with: parley resume ",
  );
  expect(ran.stderr).not.toContain("timeoutMs");
});
