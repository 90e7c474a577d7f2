// Servers that do not use Parley: those of the official SDK, v1 and v2.

import { InMemoryTransport } from "@modelcontextprotocol/client";
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { failure } from "../../src/client/failure.fixture.ts";
import { connect } from "../../src/client/index.ts";
import type { Connection, ConnectOptions, OpenQuestion } from "../../src/client/index.ts";
import { foreignHttp } from "./foreign-server.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

function opened(connection: Connection): Connection {
  open.push(() => connection.close());
  return connection;
}

describe("a handwritten server on the SDK, 2026-07-28", () => {
  const Name = z.object({ name: z.string() });
  const Age = z.object({ age: z.int() });

  function served() {
    return createMcpHandler(() => {
      const server = new McpServer({ name: "official", version: "1.0.0" });
      server.registerTool("hello", { description: "Two rounds" }, async (ctx) => {
        const { inputResponses } = ctx.mcpReq;
        const state = ctx.mcpReq.requestState();
        const age = acceptedContent(inputResponses, "age", Age);
        if (age !== undefined)
          return { content: [{ type: "text", text: `${String(state)} ${age.age}` }] };
        const name = acceptedContent(inputResponses, "name", Name);
        const [key, message, requestedSchema] =
          name === undefined ? (["name", "Name?", Name] as const) : (["age", "Age?", Age] as const);
        return inputRequired({
          inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) },
          ...(name !== undefined && { requestState: name.name }),
        });
      });
      return server;
    });
  }

  test("rounds work with and without state", async () => {
    const handler = served();
    open.push(() => handler.close());
    const answers: Record<string, string | number> = { name: "Ada", age: 36 };
    const connection = opened(
      await connect(handler, {
        elicit: ({ key }) => ({ action: "accept", content: { [key]: answers[key] ?? "" } }),
      }),
    );
    expect(connection.era).toBe("2026-07-28");
    expect((await connection.call("hello")).text).toBe("Ada 36");
  });
});

describe("the example server of SDK v1, 2025-11-25", () => {
  async function started(): Promise<string> {
    const example = "@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js";
    const { url, end } = await foreignHttp(example, [], "MCP_PORT");
    open.push(end);
    return url;
  }

  const contact: ConnectOptions["elicit"] = () => ({
    action: "accept",
    content: { name: "Ada", email: "ada@example.com" },
  });

  test("pushed questions work, and so do tasks that ask", async () => {
    const connection = opened(await connect(await started(), { elicit: contact }));
    expect(connection.era).toBe("2025-11-25");
    expect((await connection.call("greet", { name: "Ada" })).text).toBe("Hello, Ada!");
    const { text } = await connection.call("collect-user-info", { infoType: "contact" });
    expect(text).toContain('"email": "ada@example.com"');
    const task = await connection.call("collect-user-info-task", { infoType: "contact" });
    expect(task.text).toContain('"name": "Ada"');
    expect((await connection.call("delay", { duration: 100 })).text).toBe("Completed 100ms delay");
    await expect(connect("http://127.0.0.1:9/mcp")).rejects.toMatchObject({ code: "server_down" });
  });
});

describe("a server of SDK v1 that asks many questions", () => {
  async function served(
    ask: (server: McpServerV1) => Promise<string>,
    options: ConnectOptions,
  ): Promise<Connection> {
    const server = new McpServerV1({ name: "asking", version: "1.0.0" });
    server.registerTool("ask", { description: "Asks" }, async () => {
      return { content: [{ type: "text", text: await ask(server) }] };
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(theirs);
    open.push(() => server.close());
    return opened(await connect(ours, options));
  }
  const form = (message: string) => ({
    message,
    requestedSchema: { type: "object" as const, properties: { name: { type: "string" as const } } },
  });

  test("one call can ask thirty questions", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    open.push(() => process.off("warning", onWarning));
    const connection = await served(
      async ({ server }) => {
        const names: unknown[] = [];
        for (let n = 0; n < 30; n += 1) {
          names.push((await server.elicitInput(form(String(n)))).content?.["name"]);
        }
        return names.join();
      },
      {
        elicit: ({ message }) => ({ action: "accept", content: { name: message } }),
      },
    );
    const { text } = await connection.call("ask");
    expect(text).toBe(Array.from({ length: 30 }, (_, n) => n).join());
    expect(warnings).toEqual([]);
  });

  test("endless questions are stopped", async () => {
    let asked = 0;
    const connection = await served(
      async ({ server }) => {
        for (;;) {
          asked += 1;
          await server.elicitInput(form(String(asked)));
        }
      },
      { elicit: () => ({ action: "decline" }), limits: { taskQuestions: 5 } },
    );
    expect(await failure(connection.call("ask"))).toMatchObject({ code: "too_many_rounds" });
    expect(asked).toBe(6);
  });

  test("a question that the server no longer waits for is withdrawn", async () => {
    const connection = await served(
      ({ server }) =>
        server.elicitInput(form("Quick!"), { timeout: 50 }).then(
          () => "answered",
          () => "too late",
        ),
      { elicit: "events" },
    );
    const call = connection.start("ask");
    const types: string[] = [];
    for await (const event of call) types.push(event.type);
    expect(types).toEqual(["asked", "withdrawn", "done"]);
    expect((await call.result()).text).toBe("too late");
  });
});

describe("a server of SDK v1 that requires a visit to a page first (-32042)", () => {
  async function served(options: ConnectOptions): Promise<Connection> {
    let isSignedIn = false;
    const server = new McpServerV1({ name: "pages", version: "1.0.0" });
    server.registerTool("list", { description: "Needs a sign-in" }, async () => {
      const page = { mode: "url" as const, message: "Sign in", url: "https://example.com/in" };
      if (!isSignedIn) {
        isSignedIn = true;
        throw new UrlElicitationRequiredError([{ ...page, elicitationId: "e1" }]);
      }
      return { content: [{ type: "text", text: "signed in" }] };
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(theirs);
    open.push(() => server.close());
    return opened(await connect(ours, options));
  }

  test("the page is shown, and the call is made again", async () => {
    const seen: OpenQuestion[] = [];
    const connection = await served({
      elicit: (question) => {
        seen.push(question);
        return { action: "accept" };
      },
    });
    expect((await connection.call("list")).text).toBe("signed in");
    expect(seen).toMatchObject([{ kind: "url", host: "example.com", message: "Sign in" }]);
  });

  test("declining the page ends the call without a result", async () => {
    const connection = await served({ elicit: () => ({ action: "decline" }) });
    expect(await failure(connection.call("list"))).toMatchObject({ code: "cancelled" });
  });

  test("without a handler, the error says what was asked", async () => {
    const connection = await served({});
    expect(await failure(connection.call("list"))).toMatchObject({
      code: "unhandled_question",
      question: { url: "https://example.com/in" },
    });
  });
});
