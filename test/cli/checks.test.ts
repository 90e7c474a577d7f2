// `parley call` as another kind of client (`--as`), and as a check of your own server (`--tamper`, `--replay`).

import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { deskUrl, emptyFolder, parley, read } from "./run.ts";

/** A server that trusts any state it gets back, and counts. */
async function careless(): Promise<string> {
  let orders = 0;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "careless", version: "1.0.0" });
    server.registerTool("order", { description: "Orders" }, async (ctx) => {
      if (ctx.mcpReq.inputResponses !== undefined) {
        orders += 1;
        return { content: [{ type: "text", text: `order ${orders}` }] };
      }
      const requestedSchema = z.object({ n: z.int() });
      return inputRequired({
        inputRequests: { n: inputRequired.elicit({ message: "How many?", requestedSchema }) },
        requestState: Buffer.from(JSON.stringify({ price: 5 })).toString("base64url"),
      });
    });
    return server;
  });
  const handle = toNodeHandler(handler);
  const http = createServer((req, res) => void handle(req as Parameters<typeof handle>[0], res));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    await handler.close();
    http.close();
    http.closeAllConnections();
  });
  const address = http.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`;
}

describe("--tamper", () => {
  test("a server that seals its state refuses a changed one", async () => {
    const args = ["call", await deskUrl(), "rounds", "--answer", "first=Ada", "--tamper"];
    const { code, stdout } = await parley(args, { cwd: emptyFolder() });
    expect(stdout).toMatch(
      /^(✔ changed .*: refused .*\n){4}The server refuses a changed state\.\n$/,
    );
    expect(code).toBe(0);
  });

  test("reports a server that accepts a changed state", async () => {
    const args = ["call", await careless(), "order", "--answer", "n=1", "--tamper", "--json"];
    const { code, stdout } = await parley(args, { cwd: emptyFolder() });
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({ check: "tamper", isFine: false });
  });

  test("says that there is nothing to change if the tool asks nothing", async () => {
    const none = await parley(["call", await deskUrl(), "echo", "item=x", "--tamper"], {
      cwd: emptyFolder(),
    });
    expect(none).toMatchObject({ code: 1 });
    expect(none.stderr).toContain(
      "echo asks no question in a round, so there is nothing to check.",
    );
  });
});

describe("--replay", () => {
  test("reports that the same round has the same result twice", async () => {
    const args = ["call", await deskUrl(), "rounds", "--answer", "first=Ada", "--replay"];
    const { code, stdout } = await parley(args, { cwd: emptyFolder() });
    expect(stdout).toMatch(
      /^✔ first time: asks second\n✔ second time: asks second\nBoth rounds have the same result\./,
    );
    expect(code).toBe(0);
  });

  test("reports a server that does the work twice", async () => {
    const args = ["call", await careless(), "order", "--answer", "n=1", "--replay"];
    const { code, stdout } = await parley(args, { cwd: emptyFolder() });
    expect(stdout).toMatch(
      /first time: done order 1\n✖ second time: done order 2\n.*not safe to repeat/,
    );
    expect(code).toBe(1);
  });
});

describe("--as", () => {
  test("legacy: questions arrive in the session, and the call cannot be resumed", async () => {
    const url = await deskUrl();
    const cwd = emptyFolder();
    const done = await parley(
      ["call", url, "text", "--as", "legacy", "--answer", "name=Ada", "--json"],
      { cwd },
    );
    expect(read(done.stdout)).toMatchObject({ status: "done", server: { era: "2025-11-25" } });
    const open = await parley(["call", url, "text", "--as", "legacy"], { cwd });
    expect(open).toMatchObject({ code: 6 });
    expect(open.stderr).toContain(
      "The call cannot be resumed, because a 2025-11-25 session ends with its connection.",
    );
  });

  test("no-elicitation: the server refuses a tool that has to ask", async () => {
    const args = ["call", await deskUrl(), "text", "--as", "no-elicitation", "--json"];
    const { code, stdout } = await parley(args, { cwd: emptyFolder() });
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({
      status: "failed",
      error: {
        code: "capability_missing",
        message: expect.stringMatching(/^(?!.*connect\().* Leave out --as, and try again\.$/s),
      },
    });
  });

  test("no-tasks: the server refuses a tool that can only be a task", async () => {
    const args = ["call", await deskUrl(), "work", "--as", "no-tasks", "--json"];
    const { code, stdout } = await parley(args, { cwd: emptyFolder() });
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({ status: "failed", error: { code: "capability_missing" } });
  });

  test("modern: the command speaks 2026-07-28 to the server, and refuses an unknown kind", async () => {
    const url = await deskUrl();
    const cwd = emptyFolder();
    const modern = await parley(["call", url, "echo", "item=x", "--as", "modern", "--json"], {
      cwd,
    });
    expect(read(modern.stdout)).toMatchObject({ server: { era: "2026-07-28" } });
    const odd = await parley(["call", url, "echo", "--as", "odd"], { cwd });
    expect(odd).toMatchObject({ code: 2 });
    expect(odd.stderr).toContain(
      `--as takes modern, legacy, no-elicitation, no-tasks, chat, not "odd".`,
    );
  });
});

test("the server gets the folders of --root", async () => {
  const url = await deskUrl();
  const cwd = emptyFolder();
  const { stdout } = await parley(["call", url, "roots", "--root", cwd], { cwd });
  expect(JSON.parse(stdout)).toEqual([{ uri: new URL(`file://${cwd}`).href }]);
});
