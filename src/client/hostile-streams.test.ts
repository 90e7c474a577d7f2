// Servers that stream against the rules: each costs bounded memory, changes no order, and the result arrives.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { StreamedBlocks } from "../protocol/streamed-blocks.ts";
import type { BlockChange } from "../protocol/streamed-blocks.ts";
import { partIn } from "../protocol/streamed-content.ts";
import { EventQueue } from "./events.ts";
import { connect } from "./index.ts";
import type { CallEvent, ConnectOptions } from "./index.ts";
import { partEvent } from "./part.ts";
import { done, Streamed, streamingServer } from "./streaming.fixture.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

type PartEvent = Extract<CallEvent, { type: "part" }>;

/** The parts that a client reports if the server streams like this. */
async function partsFrom(
  send: (stream: Streamed) => undefined,
  options: ConnectOptions = {},
): Promise<{ parts: PartEvent[]; text: string }> {
  const server = await streamingServer((message, response) =>
    send(new Streamed(message, response)),
  );
  open.push(server.close);
  const connection = await connect(server.url, options);
  open.push(() => connection.close());
  const parts: PartEvent[] = [];
  const call = connection.start("any");
  for await (const event of call) if (event.type === "part") parts.push(event);
  return { parts, text: (await call.result()).text };
}

const texts = (parts: readonly PartEvent[]) => parts.map(({ text }) => text).join("");

describe("over HTTP", () => {
  test("wrong shapes are ignored", async () => {
    const { parts, text } = await partsFrom((stream) =>
      stream
        .text("a", "x")
        .part({ block: 1, content: [] })
        .part({ block: "", content: [{ type: "text", text: "no name" }] })
        .part({ content: [{ type: "text", text: "no name" }] })
        .part({ block: "n".repeat(1_000_000), content: [{ type: "text", text: "long name" }] })
        .part({ block: "a", op: "explode", content: [{ type: "text", text: "unknown" }] })
        .part({ block: "a", content: "text" })
        .part({ block: "a", content: [null] })
        .part({ block: "a", content: [{ type: "text", text: 1 }] })
        .part({ block: "a", content: [{ text: "no type" }] })
        .part({ block: "unknown", op: "reset" })
        .part({ block: "a", content: [] })
        .part({ token: null, block: "a", content: [{ type: "text", text: "no token" }] })
        .text("__proto__", "y")
        .text("a", "z")
        .end(done("ok")),
    );
    expect(text).toBe("ok");
    expect(new Set(parts.map(({ block, op }) => `${op} ${block}`))).toEqual(
      new Set(["append a", "append __proto__"]),
    );
    expect(texts(parts.filter(({ block }) => block === "a"))).toBe("xz");
  });

  test("a part after the end changes nothing", async () => {
    const { parts } = await partsFrom((stream) => {
      stream.text("a", "x").send(done("ok"));
      return stream.text("a", "late").close();
    });
    expect(texts(parts)).toBe("x");
  });

  test("content that exceeds the limit is taken back whole, once, and the result arrives", async () => {
    const { parts, text } = await partsFrom(
      (stream) => {
        for (let i = 0; i < 100; i += 1) stream.text("a", "x".repeat(1_000));
        return stream.text("a", "more").text("b", "more").end(done("ok"));
      },
      { limits: { streamBytes: 50_000 } },
    );
    expect(text).toBe("ok");
    expect(parts.filter(({ block }) => block === "b")).toEqual([]);
    // A quick reader has seen some of it.
    const last = parts.at(-1);
    if (last !== undefined) expect(last).toMatchObject({ op: "reset", block: "a" });
  });

  test("a part that is nested too deep is too large", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const { parts, text } = await partsFrom((stream) =>
      stream
        .text("a", "x")
        .raw(`{"block":"a","content":[{"type":"odd","deep":${deep}}]`)
        .end(done("ok")),
    );
    expect(text).toBe("ok");
    expect(parts.at(-1)?.op ?? "reset").toBe("reset");
  });
});

describe("memory", () => {
  const queueOf = (mostBytes: number) => {
    const queue = new EventQueue<CallEvent>();
    const blocks = new StreamedBlocks(mostBytes, (read) => queue.pushLater(partEvent(read)));
    const drain = async () => {
      queue.end();
      const events: CallEvent[] = [];
      for (;;) {
        const { done: isDone, value } = await queue.next();
        if (isDone === true) return events;
        events.push(value);
      }
    };
    return { queue, blocks, drain };
  };

  const say = (block: string, text: string) => ({
    block,
    content: [{ type: "text", text }] as const,
  });

  /** Bytes in use after a full collection. */
  const heap = () => {
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    return process.memoryUsage().heapUsed;
  };

  test("a million unread parts take no more memory than their text, and stay in order", async () => {
    const { blocks, drain } = queueOf(16 * 1_024 * 1_024);
    const before = heap();
    for (let i = 0; i < 1_000_000; i += 1) blocks.take(say("a", String(i % 10)));
    expect(heap() - before).toBeLessThan(64 * 1_024 * 1_024);
    const events = await drain();
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ op: "append", text: "0123456789".repeat(100_000) });
  });

  test("blocks that are begun and reset under ever new names come to an end", async () => {
    const { blocks, drain } = queueOf(1_024 * 1_024);
    for (let i = 0; i < 50_000; i += 1) {
      blocks.take(say(`b${i}`, "x"));
      blocks.take({ block: `b${i}`, op: "reset" });
    }
    expect(await drain()).toEqual([]);
    blocks.take(say("a", "x"));
    expect(blocks.names).toEqual([]);
  });

  test("resets of a block, over and over, wait as one", async () => {
    const { blocks, queue, drain } = queueOf(1_024 * 1_024);
    blocks.take(say("a", "x"));
    expect((await queue.next()).value).toMatchObject({ op: "append", text: "x" });
    for (let i = 0; i < 100_000; i += 1) {
      blocks.take({ block: "a", op: "reset" });
      blocks.take(say("a", "y"));
    }
    expect(await drain()).toMatchObject([{ op: "replace", text: "y" }]);
  });

  test("a reader of every part has each piece once, and each place in the block", () => {
    const read: BlockChange[] = [];
    const blocks = new StreamedBlocks(64 * 1_024 * 1_024, (next) => {
      const change = next();
      if (change !== undefined) read.push(change);
    });
    for (let i = 0; i < 20_000; i += 1) blocks.take(say("a", "0123456789"));
    expect(read).toHaveLength(20_000);
    expect(read.at(-1)?.text).toBe("0123456789");
    expect(read.at(99)?.soFar.text).toHaveLength(1_000);
  });
});

describe("a block", () => {
  test("text that follows text is joined, and other content is not changed", () => {
    const blocks = new StreamedBlocks(1_000_000, () => {});
    const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
    const noted = { type: "text", text: "noted", annotations: { priority: 1 } } as const;
    for (const content of [
      [{ type: "text", text: "a" } as const, { type: "text", text: "b" } as const],
      [image],
      [{ type: "text", text: "c" } as const],
      [noted, { type: "text", text: "d" } as const],
    ]) {
      blocks.take({ block: "x", content });
    }
    expect(blocks.content("x")).toEqual([
      { type: "text", text: "ab" },
      image,
      { type: "text", text: "c" },
      noted,
      { type: "text", text: "d" },
    ]);
  });

  test("what was kept comes back when later parts are dropped, and is not reported again if it is the same", () => {
    const changes: string[] = [];
    const blocks = new StreamedBlocks(1_000_000, (read) => {
      const change = read();
      if (change !== undefined) changes.push(`${change.op} ${change.block} ${change.text}`);
    });
    blocks.take({ block: "a", content: [{ type: "text", text: "one" }] });
    blocks.keep();
    blocks.take({ block: "a", op: "replace", content: [{ type: "text", text: "one" }] });
    blocks.drop();
    expect(changes).toEqual(["append a one"]);
    blocks.take({ block: "a", op: "replace", content: [{ type: "text", text: "two" }] });
    blocks.take({ block: "b", content: [{ type: "text", text: "three" }] });
    blocks.drop();
    blocks.drop();
    expect(changes.slice(1)).toEqual([
      "replace a two",
      "append b three",
      "replace a one",
      "reset b ",
    ]);
    expect(blocks.kept(1_000_000)).toEqual([["a", [{ type: "text", text: "one" }]]]);
    expect(blocks.kept(10)).toBeUndefined();
  });

  test("a part has a name, a known op and content blocks", () => {
    expect(partIn({ block: "a" })).toEqual({ block: "a", op: "append", content: [] });
    expect(partIn({ block: "a", op: "reset", content: [{ type: "text", text: "x" }] })).toEqual({
      block: "a",
      op: "reset",
      content: [],
    });
    expect(partIn({ block: "a", op: "undo" })).toBeUndefined();
  });
});
