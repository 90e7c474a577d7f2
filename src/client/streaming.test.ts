// Parts of streamed results: provisional until their request has a result, the same for every reader, and bounded.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readStreamsMethod, streamTokenIn } from "../protocol/streaming.ts";
import { failure } from "./failure.fixture.ts";
import { form, hostile, taskOf } from "./hostile.fixture.ts";
import type { Hostile, Saying } from "./hostile.fixture.ts";
import { connect, outcomes } from "./index.ts";
import type { Call, CallEvent, Connection, ConnectOptions } from "./index.ts";
import { done, Reader, Streamed, streamingServer } from "./streaming.fixture.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const yes: ConnectOptions = { elicit: () => ({ action: "accept", content: { name: "Ada" } }) };

async function met(
  say: Saying,
  options: ConnectOptions = yes,
): Promise<{ server: Hostile; connection: Connection }> {
  const server = await streamingServer(say);
  open.push(server.close);
  const connection = await connected(server, options);
  return { server, connection };
}

async function connected(server: Hostile, options: ConnectOptions = yes): Promise<Connection> {
  const connection = await connect(server.url, options);
  open.push(() => connection.close());
  return connection;
}

type PartEvent = Extract<CallEvent, { type: "part" }>;

async function partsOf(call: Call): Promise<PartEvent[]> {
  const parts: PartEvent[] = [];
  for await (const event of call) if (event.type === "part") parts.push(event);
  return parts;
}

/** What happened, in short. */
const shown = (events: readonly PartEvent[]) =>
  events.map(({ block, op, text }) => `${op} ${block} ${text}`.trim());

const asking = (requestState: string) => ({
  resultType: "input_required",
  inputRequests: { name: form("Name?") },
  requestState,
});

const tokenOf = ({ params }: { readonly params: { readonly [name: string]: unknown } }) =>
  streamTokenIn(params["_meta"]);

describe("rounds", () => {
  test("parts are events before the result, with the block so far", async () => {
    const { connection } = await met((message, response) =>
      new Streamed(message, response)
        .text("draft", "Revenue ")
        .part({ block: "chart", content: [{ type: "image", data: "AA==", mimeType: "image/png" }] })
        .text("draft", "grew")
        .end(done("Revenue grew")),
    );
    const reader = new Reader();
    const events: CallEvent[] = [];
    for await (const event of connection.start("report")) {
      events.push(event);
      if (event.type === "part") reader.take(event);
    }
    const parts = events.filter((event) => event.type === "part");
    expect(events.at(-1)).toMatchObject({ type: "done", result: { text: "Revenue grew" } });
    expect(reader.held).toEqual(
      new Map([
        ["draft", "Revenue grew"],
        ["chart", ""],
      ]),
    );
    const last = parts.findLast(({ block }) => block === "draft");
    expect(last?.soFar).toEqual({
      text: "Revenue grew",
      content: [{ type: "text", text: "Revenue grew" }],
    });
    expect(parts.find(({ block }) => block === "chart")).toMatchObject({
      text: "",
      content: [{ type: "image", data: "AA==" }],
    });
  });

  test("each request has its own token, even a repeated one, and parts with another token are ignored", async () => {
    let earlier: string | undefined;
    const { connection, server } = await met((message, response) => {
      const stream = new Streamed(message, response);
      if (message.params["requestState"] === undefined) {
        earlier = stream.token;
        return stream.text("one", "a").end(asking("s"));
      }
      return stream
        .part({ token: earlier, block: "one", content: [{ type: "text", text: "late" }] })
        .part({ token: "s-1", block: "one", content: [{ type: "text", text: "foreign" }] })
        .text("two", "b")
        .end(done("ok"));
    });
    expect(shown(await partsOf(connection.start("any")))).toEqual(["append one a", "append two b"]);
    const tokens = server.heard.map(tokenOf);
    expect(new Set(tokens).size).toBe(2);
    expect(tokens).not.toContain(undefined);
  });

  test("parts of a request without a result are taken back, and those of earlier rounds stay", async () => {
    let rounds = 0;
    const { connection, server } = await met((message, response) => {
      const stream = new Streamed(message, response);
      rounds += 1;
      if (rounds === 1) return stream.text("one", "certain").end(asking("s"));
      if (rounds === 2) return stream.text("two", "maybe").text("one", "!").break();
      return stream.text("two", "other").end(done("ok"));
    });
    const reader = new Reader();
    const seen: string[] = [];
    const read = async (call: Call) => {
      for await (const event of call) {
        if (event.type !== "part") continue;
        reader.take(event);
        seen.push(...shown([event]));
      }
    };
    const error = await failure(read(connection.start("any")));
    expect(error.code).toBe("server_down");
    expect(reader.held).toEqual(new Map([["one", "certain"]]));
    expect(seen).toContain("reset two");
    const again = await connected(server);
    await read(again.resume(error.ref ?? ""));
    expect(reader.held).toEqual(
      new Map([
        ["one", "certain"],
        ["two", "other"],
      ]),
    );
  });

  test("a JSON-RPC error takes the parts back as well", async () => {
    const { connection } = await met((message, response) =>
      new Streamed(message, response).text("one", "a").refuse({ code: -32_603, message: "no" }),
    );
    const seen: PartEvent[] = [];
    const read = async () => {
      for await (const event of connection.start("any"))
        if (event.type === "part") seen.push(event);
    };
    expect(await failure(read())).toMatchObject({ code: "refused" });
    expect(seen.at(-1)).toMatchObject({ op: "reset", block: "one", content: [], text: "" });
    expect(seen.at(-1)?.soFar).toEqual({ text: "", content: [] });
  });

  test("a reset, a replacement and text after a reset are told apart", async () => {
    const { connection } = await met((message, response) =>
      new Streamed(message, response)
        .text("a", "wrong")
        .part({ block: "a", op: "reset" })
        .text("a", "right")
        .text("b", "first")
        .part({ block: "b", op: "replace", content: [{ type: "text", text: "second" }] })
        .end(done("ok")),
    );
    const reader = new Reader();
    for (const part of await partsOf(connection.start("any"))) {
      reader.take(part);
      expect(reader.held.get(part.block) ?? "").toBe(part.soFar.text);
    }
    expect(Object.fromEntries(reader.held)).toEqual({ a: "right", b: "second" });
  });

  test("the parts need not be read: the result is the same, and each block waits once", async () => {
    const { connection } = await met((message, response) => {
      const stream = new Streamed(message, response);
      for (let i = 0; i < 500; i += 1) stream.text("a", "x").text("b", "y");
      return stream.end(done("ok"));
    });
    const call = connection.start("any");
    expect((await call.result()).text).toBe("ok");
    const parts = await partsOf(call);
    expect(shown(parts)).toEqual([`append a ${"x".repeat(500)}`, `append b ${"y".repeat(500)}`]);
  });

  test("soFar is the block as it stood, even if it is read later", async () => {
    const { connection } = await met((message, response) => {
      const stream = new Streamed(message, response).text("a", "one");
      setImmediate(() => stream.text("a", " two").end(done("ok")));
      return undefined;
    });
    const parts = await partsOf(connection.start("any"));
    let text = "";
    for (const part of parts) {
      text += part.text;
      expect(part.soFar.text).toBe(text);
    }
    expect(text).toBe("one two");
  });

  test("outcomes() has them as partial outcomes", async () => {
    const { connection } = await met((message, response) =>
      new Streamed(message, response).text("a", "one").end(done("ok")),
    );
    const seen: object[] = [];
    for await (const outcome of outcomes(connection.start("any"))) seen.push(outcome);
    expect(seen).toMatchObject([
      { kind: "partial", response: "answer", block: "a", text: "one", soFar: { text: "one" } },
      { kind: "complete" },
    ]);
  });
});

describe("what a client asks for", () => {
  const plain: Saying = (message, response) => {
    const stream = new Streamed(message, response);
    return stream.end(done(stream.token ?? "none"));
  };

  test("call() and streams: false ask for no parts", async () => {
    const { connection, server } = await met(plain);
    expect((await connection.call("any")).text).toBe("none");
    const quiet = await connected(server, { streams: false });
    expect((await quiet.start("any").result()).text).toBe("none");
    expect(JSON.stringify(server.heard.at(-1)?.params)).not.toContain("/streaming");
  });

  test("a server that does not declare streaming gets no token", async () => {
    const server = await hostile(plain);
    open.push(server.close);
    const connection = await connected(server);
    expect((await connection.start("any").result()).text).toBe("none");
    const meta = JSON.stringify(server.heard.at(-1)?.params["_meta"]);
    expect(meta).toContain('"io.github.mcp-parley/streaming":{}');
  });
});

describe("tasks", () => {
  /** A task that streams `texts`, one reading each, asks after the first, and ends after the last. */
  const report = (onRead: (stream: Streamed, after: unknown, isAnswered: boolean) => undefined) => {
    let isAnswered = false;
    let isOver = false;
    const task = () => {
      if (isOver) return taskOf("t-1", { status: "completed", result: done("all") });
      if (isAnswered) return taskOf("t-1", {});
      return taskOf("t-1", { status: "input_required", inputRequests: { name: form("Name?") } });
    };
    const say: Saying = (message, response) => {
      switch (message.method) {
        case "tools/call":
          return new Streamed(message, response)
            .text("intro", "Hello.")
            .end({ resultType: "task", ...taskOf("t-1", {}) });
        case readStreamsMethod: {
          return onRead(new Streamed(message, response), message.params["after"], isAnswered);
        }
        case "tasks/update":
          isAnswered = true;
          return { resultType: "complete" };
        default:
          return { resultType: "complete", ...task() };
      }
    };
    const finish = () => {
      isOver = true;
      return task();
    };
    return { say, task, finish };
  };

  const intro = { block: "intro", op: "replace", content: [{ type: "text", text: "Hello." }] };

  test("the stream of a task continues after a question, with the cursor, and before the result", async () => {
    const afters: unknown[] = [];
    const { say, task, finish } = report((stream, after, isAnswered) => {
      afters.push(after);
      if (!isAnswered) {
        return stream
          .part(intro)
          .text("draft", "One. ")
          .end({ ...task(), cursor: "c1" });
      }
      return stream.text("end", "Two.").end({ ...finish(), cursor: "c2" });
    });
    const { connection } = await met(say);
    const seen: string[] = [];
    for await (const event of connection.start("any")) {
      seen.push(event.type === "part" ? shown([event]).join("") : event.type);
    }
    expect(seen).toEqual([
      "append intro Hello.",
      "task",
      "append draft One.",
      "asked",
      "answered",
      "append end Two.",
      "done",
    ]);
    expect(afters).toEqual([undefined, "c1"]);
  });

  test("a reading that breaks off begins again after the same cursor, and nothing is held twice", async () => {
    let readings = 0;
    const { say, task, finish } = report((stream, after, isAnswered) => {
      if (!isAnswered) return stream.text("draft", "One. ").end({ ...task(), cursor: "c1" });
      readings += 1;
      expect(after).toBe("c1");
      if (readings === 1) return stream.text("end", "Two and").break();
      return stream.text("end", "Two and three.").end({ ...finish(), cursor: "c2" });
    });
    const { connection } = await met(say);
    const reader = new Reader();
    for await (const event of connection.start("any")) {
      if (event.type === "part") reader.take(event);
    }
    expect(readings).toBe(2);
    expect(Object.fromEntries(reader.held)).toEqual({
      intro: "Hello.",
      draft: "One. ",
      end: "Two and three.",
    });
  });

  test("another process holds what the first one held, and reads on after its cursor", async () => {
    const folder = await mkdtemp(join(tmpdir(), "parley-stream-"));
    open.push(() => rm(folder, { recursive: true }));
    const afters: unknown[] = [];
    const { say, task, finish } = report((stream, after, isAnswered) => {
      afters.push(after);
      if (!isAnswered) {
        if (after === undefined) stream.text("draft", "One. ");
        return stream.end({ ...task(), cursor: "c1" });
      }
      return stream.text("end", "Two.").end({ ...finish(), cursor: "c2" });
    });
    const { connection, server } = await met(say, { elicit: "events", journal: folder });
    for await (const { type } of connection.start("any")) if (type === "asked") break;
    await connection.close();
    const later = await connected(server, { elicit: "events", journal: folder });
    const [call] = await later.unfinished();
    const resumed = later.resume(call?.ref ?? "");
    const reader = new Reader();
    for await (const event of resumed) {
      if (event.type === "part") reader.take(event);
      if (event.type !== "asked") continue;
      await resumed.answer("name", { action: "accept", content: { name: "Ada" } });
    }
    expect(Object.fromEntries(reader.held)).toEqual({
      intro: "Hello.",
      draft: "One. ",
      end: "Two.",
    });
    expect(afters.filter((after) => after === undefined)).toHaveLength(1);
    expect(afters.at(-1)).toBe("c1");
  });

  test("a server without the reading method is asked once, and the call goes on", async () => {
    let readings = 0;
    const { say, finish } = report((stream) => {
      readings += 1;
      return stream.refuse({ code: -32_601, message: "no" });
    });
    let polls = 0;
    const { connection } = await met((message, response) => {
      if (message.method === "tasks/get") polls += 1;
      if (polls === 5) finish();
      return say(message, response);
    });
    const parts = await partsOf(connection.start("any"));
    expect(shown(parts)).toEqual(["append intro Hello."]);
    expect(readings).toBe(1);
  });

  test("a server without a place for another reader is not asked again until the task rests", async () => {
    let readings = 0;
    let polls = 0;
    const { say, finish, task } = report((stream, _after, isAnswered) => {
      readings += 1;
      if (isAnswered && polls < 5) {
        return stream.refuse({
          code: -32_603,
          message: "Reader limit reached",
          data: { reason: "too_many_readers" },
        });
      }
      return stream.text(isAnswered ? "end" : "draft", "all").end({ ...task(), cursor: "c" });
    });
    let isAnswered = false;
    const { connection } = await met((message, response) => {
      if (message.method === "tasks/update") isAnswered = true;
      if (message.method === "tasks/get" && isAnswered) polls += 1;
      if (polls === 5) finish();
      return say(message, response);
    });
    const reader = new Reader();
    for await (const event of connection.start("any")) {
      if (event.type === "part") reader.take(event);
    }
    expect(reader.held.get("end")).toBe("all");
    // One at the question, one that is refused, and one at the end.
    expect(readings).toBe(3);
  });

  test("a cursor that the server no longer accepts starts the reading again", async () => {
    const { say, task, finish } = report((stream, after, isAnswered) => {
      if (!isAnswered) return stream.text("draft", "One. ").end({ ...task(), cursor: "c1" });
      if (after !== undefined) return stream.refuse({ code: -32_602, message: "Unknown cursor" });
      const content = [{ type: "text", text: "One. " }];
      stream.part(intro).part({ block: "draft", op: "replace", content });
      return stream.text("end", "Two.").end({ ...finish(), cursor: "c2" });
    });
    const { connection } = await met(say);
    const reader = new Reader();
    for await (const event of connection.start("any")) {
      if (event.type === "part") reader.take(event);
    }
    expect(Object.fromEntries(reader.held)).toEqual({
      intro: "Hello.",
      draft: "One. ",
      end: "Two.",
    });
  });

  test("a last reading that never works takes back what is not certain, and the result arrives", async () => {
    const { say, task, finish } = report((stream, _after, isAnswered) => {
      if (!isAnswered) return stream.text("draft", "One. ").end({ ...task(), cursor: "c1" });
      finish();
      return stream.text("end", "Two").break();
    });
    const { connection } = await met(say);
    const reader = new Reader();
    const call = connection.start("any");
    for await (const event of call) if (event.type === "part") reader.take(event);
    expect(Object.fromEntries(reader.held)).toEqual({ intro: "Hello.", draft: "One. " });
    expect((await call.result()).text).toBe("all");
  });
});
