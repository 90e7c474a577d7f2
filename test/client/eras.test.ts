// The same calls in every way to reach a server: HTTP and stdio, 2026-07-28 and 2025-11-25, an app and a transport.

import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { parley } from "mcp-parley";
import { afterEach, describe, expect, test } from "vitest";
import { failure } from "../../src/client/failure.fixture.ts";
import { connect } from "../../src/client/index.ts";
import type {
  Call,
  ClientJournal,
  Connection,
  ConnectOptions,
  Era,
} from "../../src/client/index.ts";
import { errands, keys, quiet } from "../interop/errands.ts";
import { longErrands } from "../interop/long-errands.ts";
import { stdioPlace } from "../interop/stdio-place.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

function opened(connection: Connection): Connection {
  open.push(() => connection.close());
  return connection;
}

const people: ConnectOptions = {
  elicit: (question) => {
    if (question.kind === "url") return { action: "accept" };
    if (question.message.includes("Who travels"))
      return { action: "accept", content: { name: "Ada", seats: 2 } };
    const [name, field] = Object.entries(question.schema.properties)[0] ?? [];
    if (name === undefined) return { action: "accept" };
    if (field?.type === "boolean") return { action: "accept", content: { [name]: true } };
    const choice = field?.type === "string" ? field.enum?.[0] : undefined;
    return { action: "accept", content: { [name]: choice ?? "Ada" } };
  },
  sample: () => ({
    role: "assistant",
    content: { type: "text", text: "onwards" },
    model: "m",
    stopReason: "endTurn",
  }),
  roots: [{ uri: "file:///home/ada" }],
};

const stdio = stdioPlace("stdio-server.ts");

async function overHttp(options: ConnectOptions): Promise<Connection> {
  const { app } = errands({ keys });
  const { url } = await app.listen(0);
  open.push(() => app.close());
  return opened(await connect(url, options));
}

async function overFetch(options: ConnectOptions): Promise<Connection> {
  const { app } = errands({ keys });
  open.push(() => app.close());
  return opened(await connect(app, options));
}

const ways: [string, Era, (options: ConnectOptions) => Promise<Connection>][] = [
  ["HTTP", "2026-07-28", overHttp],
  ["HTTP", "2025-11-25", overHttp],
  ["stdio", "2026-07-28", async (options) => opened(await connect(stdio, options))],
  ["stdio", "2025-11-25", async (options) => opened(await connect(stdio, options))],
  ["an app", "2026-07-28", overFetch],
  ["an app", "2025-11-25", overFetch],
  [
    "a transport",
    "2026-07-28",
    async (options) => opened(await connect(new StdioClientTransport(stdio), options)),
  ],
];

describe.each(ways)("%s, %s", (_, era, way) => {
  test("tools, prompts and resources ask and complete", async () => {
    const connection = await way({ ...people, era });
    expect(connection.era).toBe(era);
    const { text } = await connection.call("book_trip", { to: "Rome" });
    expect(text).toBe("Ada, 2 seats, Train, booked, “onwards”, filed in file:///home/ada");
    expect((await connection.call("together")).text).toBe("Ada in onwards");
    const { messages } = await connection.prompt("letter", { tone: "kind" });
    expect(messages).toMatchObject([{ content: { text: "Write a kind letter to Ada." } }]);
    const { contents } = await connection.read("diary://days/monday");
    expect(contents).toMatchObject([{ text: "monday in Ada" }]);
  });

  test("questions arrive as events [C32]", async () => {
    const connection = await way({ ...people, elicit: "events", era });
    const call = connection.start("together");
    const seen: string[] = [];
    for await (const event of call) {
      seen.push(event.type);
      if (event.type !== "asked") continue;
      for (const { kind, key } of event.questions) {
        // In a session the name comes from the form's only field.
        if (kind === "form") expect(key).toBe("name");
        if (kind === "form")
          await call.answer(key, { action: "accept", content: { name: "Grace" } });
      }
    }
    expect(seen.at(-1)).toBe("done");
    expect((await call.result()).text).toBe("Grace in onwards");
  });
});

describe("tasks of 2025-11-25", () => {
  async function served(options: ConnectOptions): Promise<Connection> {
    const app = longErrands();
    const { url } = await app.listen(0);
    open.push(() => app.close());
    return opened(await connect(url, { ...options, era: "2025-11-25" }));
  }

  test.each([
    ["confirm_delete", { filename: "a.txt" }, "a.txt is deleted."],
    ["motto", {}, "onwards"],
    ["slow_compute", { seconds: 0.2 }, "it took 0.2 s"],
  ])("%s", async (tool, args, text) => {
    const connection = await served(people);
    const call = connection.start(tool, args, { task: true });
    const types: string[] = [];
    for await (const { type } of call) types.push(type);
    expect(types[0]).toBe("task");
    expect((await call.result()).text).toBe(text);
  });

  test("a task can end in an error, and a task can be cancelled", async () => {
    const connection = await served({ elicit: "events" });
    const error = await failure(connection.call("protocol_error_job"));
    expect(error).toMatchObject({ code: "task_failed", rpc: { code: -32_603 } });
    const call = connection.start("confirm_delete", { filename: "a.txt" });
    let ref = "";
    for await (const event of call) {
      if (event.type === "task") ref = event.ref;
      if (event.type === "asked") break;
    }
    await call.cancel();
    await expect(call.result()).rejects.toMatchObject({ code: "cancelled" });
    await expect(connection.resume(ref).result()).rejects.toMatchObject({
      code: "task_cancelled",
    });
  });

  test("a task of another connection's session is continued by its id", async () => {
    const app = longErrands();
    const { url } = await app.listen(0);
    open.push(() => app.close());
    const first = opened(await connect(url, { elicit: "events", era: "2025-11-25" }));
    let ref = "";
    for await (const event of first.start("confirm_delete", { filename: "a.txt" })) {
      if (event.type === "task") ref = event.ref;
      if (event.type === "asked") break;
    }
    await first.close();
    const second = opened(await connect(url, { ...people, era: "2025-11-25" }));
    expect((await second.resume(ref).result()).text).toBe("a.txt is deleted.");
  });

  test("a call that is resumed in another version is kept, and the error says which version to use", async () => {
    const kept = new Map<string, string>();
    const journal: ClientJournal = {
      put: async (id, ref) => void kept.set(id, ref),
      delete: async (id) => void kept.delete(id),
      list: async () => [...kept.values()],
    };
    const app = longErrands();
    const { url } = await app.listen(0);
    open.push(() => app.close());
    const inSession = { journal, era: "2025-11-25" } as const;
    const first = opened(await connect(url, { ...inSession, elicit: "events" }));
    const call = first.start("confirm_delete", { filename: "a.txt" });
    const asked = async (one: Call) => {
      for await (const event of one) {
        if (event.type === "asked") return event.questions.map(({ key }) => key);
      }
      return [];
    };
    const names = await asked(call);
    await first.close();
    const again = opened(await connect(url, { ...inSession, elicit: "events" }));
    const [earlier] = await again.unfinished();
    expect(await asked(again.resume(earlier?.ref ?? ""))).toEqual(names);
    expect(names).toEqual(["confirm"]);
    await again.close();
    const modern = opened(await connect(url, { ...people, journal }));
    const [left] = await modern.unfinished();
    expect(left).toMatchObject({ phase: "task", era: "2025-11-25" });
    const error = await failure(modern.resume(left?.ref ?? "").result());
    expect(error.code).toBe("bad_reference");
    expect(await modern.unfinished()).toHaveLength(1);
    expect(error.message).toBe(
      "That call began in protocol version 2025-11-25, and this connection speaks 2026-07-28. " +
        'Connect with era: "2025-11-25" and resume the call there.',
    );
    const second = opened(await connect(url, { ...people, ...inSession }));
    expect((await second.resume(error.ref ?? "").result()).text).toBe("a.txt is deleted.");
    expect(kept.size).toBe(0);
  });

  test("a call that is not a task ends with its session, and no reference claims otherwise", async () => {
    const { app } = errands({ keys });
    const { url } = await app.listen(0);
    open.push(() => app.close());
    const kept = new Map<string, string>();
    const journal: ClientJournal = {
      put: async (id, ref) => void kept.set(id, ref),
      delete: async (id) => void kept.delete(id),
      list: async () => [...kept.values()],
    };
    const options = { ...people, elicit: "events", journal, era: "2025-11-25" } as const;
    const first = opened(await connect(url, options));
    const call = first.start("together");
    for await (const event of call) if (event.type === "asked") break;
    const [ref = ""] = kept.values();
    await first.close();
    expect(await failure(call.result())).toMatchObject({ code: "closed", ref: undefined });
    expect(kept.size).toBe(0);
    const second = opened(await connect(url, options));
    const error = await failure(second.resume(ref).result());
    expect(error).toMatchObject({ code: "bad_reference", ref: undefined });
    expect(error.message).toContain("which ended with its connection");
  });
});

describe("without a connection", () => {
  test("a server that is not running is an error", async () => {
    await expect(connect("http://127.0.0.1:9/mcp")).rejects.toMatchObject({ code: "server_down" });
  });

  test("a command that does not exist is an error", async () => {
    await expect(connect({ command: "/no/such/command" })).rejects.toMatchObject({
      code: "server_down",
    });
  });

  test("the client never silently falls back from an era that the server does not speak [C68]", async () => {
    const legacyOnly = { fetch: async () => new Response("what?", { status: 400 }) };
    await expect(connect(legacyOnly, { era: "2026-07-28" })).rejects.toMatchObject({
      code: "era_not_shared",
    });
  });

  test.each([
    [-32_020, "Missing or malformed MCP-Protocol-Version header"],
    [-32_601, "Method not found: initialize"],
    [-32_022, "Unsupported protocol version"],
  ])(
    "a server without initialize, which it refuses with %s, does not speak 2025-11-25",
    async (code, message) => {
      const modernOnly = {
        fetch: async () =>
          Response.json({ jsonrpc: "2.0", id: 0, error: { code, message } }, { status: 400 }),
      };
      const error = await failure(connect(modernOnly, { era: "2025-11-25" }));
      expect(error.code).toBe("era_not_shared");
      expect(error.message).toBe(
        `${message}. Omit era: "2025-11-25" to use a version that it speaks.`,
      );
    },
  );

  test("if initialize is refused otherwise, the error names it", async () => {
    const closed = { fetch: async () => new Response("no", { status: 403 }) };
    const error = await failure(connect(closed, { era: "2025-11-25" }));
    expect(error.message).toMatch(/^The server refused initialize with HTTP 403\./);
  });

  test("a server that goes away in the middle of a call ends it with an error", async () => {
    const app = parley({ name: "away", version: "1.0.0", keys, logger: quiet });
    app.tool("ask", { description: "Asks" }, (ctx) => ctx.ask("name", "Name?"));
    const { url } = await app.listen(0);
    const connection = opened(await connect(url, { elicit: "events" }));
    const call = connection.start("ask");
    for await (const event of call) if (event.type === "asked") break;
    await app.close();
    await call.answer("name", { action: "accept", content: { name: "Ada" } });
    const error = await failure(call.result());
    expect(error.code).toBe("server_down");
    expect(error.ref).toMatch(/^parley1\./);
  });
});
