// What `ctx.stream` and `ctx.emit` send and record, on the engine itself. Rounds on the wire are in test/wire/streaming.test.ts.

import type { ContentBlock } from "@modelcontextprotocol/server";
import { describe, expect, test, vi } from "vitest";
import type { PartContent } from "../../protocol/streaming.ts";
import { emptyJournal, packEntry, unpackEntry } from "../../replay/journal.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Carrier } from "../../replay/carrier.ts";
import type { Operations, StepInfo } from "../../replay/operations.ts";
import type { Outcome } from "../../replay/outcome.ts";
import { journalOf, plain, runOnce } from "../../replay/rounds.fixture.ts";
import { Stop } from "../../replay/stop.ts";
import { gate } from "../../../test/gate.fixture.ts";
import type { PartSink } from "./part-sink.ts";
import type { StreamOptions } from "./stream-types.ts";
import { startEmit, startStream } from "./stream.ts";

/** Runs a handler with a client that takes parts. */
async function streamed(
  handler: (ctx: Streaming) => unknown,
  carrier: Partial<Carrier> = {},
  journal = emptyJournal,
  sink?: PartSink["send"],
): Promise<{ readonly parts: readonly PartContent[]; readonly outcome: Outcome<unknown> }> {
  const parts: PartContent[] = [];
  const send = (part: PartContent) => {
    parts.push(part);
    return sink?.(part);
  };
  const outcome = await runOnce(
    (operations) => handler(streamingOn(operations, { send })),
    journal,
    [],
    carrier,
  );
  return { parts, outcome };
}

interface Streaming {
  readonly operations: Operations;
  readonly stream: (
    key: string,
    body: (step: StepInfo) => unknown,
    options?: StreamOptions,
  ) => Promise<unknown>;
  readonly emit: (key: string, piece: string | ContentBlock) => Promise<unknown>;
}

function streamingOn(operations: Operations, parts: PartSink | undefined): Streaming {
  const facts = { parts, stepObserver: undefined, stepTrace: undefined };
  return {
    operations,
    stream: (key, body, options) => startStream(operations, facts, key, body, options),
    emit: (key, piece) => startEmit(operations, facts, key, piece),
  };
}

const textOf = (parts: readonly PartContent[]) =>
  parts
    .flatMap(({ content = [] }) => content)
    .map((block) => (block.type === "text" ? block.text : `[${block.type}]`))
    .join("");

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

const image: ContentBlock = { type: "image", data: "AA==", mimeType: "image/png" };

describe("ctx.stream", () => {
  test("sends the text of one turn as one part, and records the joined text", async () => {
    const { parts, outcome } = await streamed(({ stream }) =>
      stream("draft", async function* () {
        yield "Revenue ";
        yield "grew";
        await turn();
        await turn();
        yield " twofold";
      }),
    );
    expect(parts.map((part) => textOf([part]))).toEqual(["Revenue grew", " twofold"]);
    expect(parts.every(({ block, op }) => block === "draft" && op === undefined)).toBe(true);
    expect(outcome).toMatchObject({ kind: "done", value: "Revenue grew twofold" });
    expect("entries" in outcome && outcome.entries).toEqual([
      { kind: "step", key: "draft", value: "Revenue grew twofold", isStream: true },
    ]);
  });

  test("sends nothing when it is replayed", async () => {
    const handler = async ({ stream, operations }: Streaming) => {
      const text = await stream("draft", async function* () {
        yield "once";
      });
      await operations.ask("ok", plain("OK?"));
      return text;
    };
    const first = await streamed(handler);
    expect(textOf(first.parts)).toBe("once");
    const again = await streamed(handler, {}, journalOf(first.outcome));
    expect(again.parts).toEqual([]);
  });

  test("joins characters that are split over two pieces, of bytes or of text", async () => {
    const bytes = new TextEncoder().encode("né😀!");
    const { parts, outcome } = await streamed(({ stream }) =>
      stream("draft", async function* () {
        for (const byte of bytes) {
          yield Uint8Array.of(byte);
          await turn();
          await turn();
        }
        yield "\uD83D";
        await turn();
        await turn();
        yield "\uDE00";
      }),
    );
    expect(outcome).toMatchObject({ value: "né😀!😀" });
    expect(parts.map((part) => textOf([part]))).toEqual(["n", "é", "😀", "!", "😀"]);
  });

  test("bytes that are not UTF-8 become U+FFFD, even at the end and before a text", async () => {
    const { parts, outcome } = await streamed(({ stream }) =>
      stream("draft", async function* () {
        yield Uint8Array.of(0xc3);
        yield "a";
        yield Uint8Array.of(0xe2, 0x82);
      }),
    );
    expect(outcome).toMatchObject({ value: "\uFFFDa\uFFFD" });
    expect(textOf(parts)).toBe("\uFFFDa\uFFFD");
  });

  test("takes a ReadableStream, and a promise for one", async () => {
    const { outcome } = await streamed(({ stream }) =>
      stream("draft", async () => new Blob(["from a Blob"]).stream()),
    );
    expect(outcome).toMatchObject({ value: "from a Blob" });
  });

  test("with blocks: true it sends and records blocks; an empty stream is an empty list", async () => {
    const { parts, outcome } = await streamed(async ({ stream }) => [
      await stream(
        "pictures",
        async function* () {
          yield image;
          yield { type: "text", text: "a chart" };
        },
        { blocks: true },
      ),
      await stream("none", async function* () {}, { blocks: true }),
      await stream("silent", async function* () {}),
    ]);
    expect(outcome).toMatchObject({ value: [[image, { type: "text", text: "a chart" }], [], ""] });
    expect(parts).toEqual([
      { block: "pictures", content: [image] },
      { block: "pictures", content: [{ type: "text", text: "a chart" }] },
    ]);
  });

  test("a failed attempt takes its parts back, and its iterator is ended", async () => {
    const ended = vi.fn();
    const { parts, outcome } = await streamed(({ stream }) =>
      stream(
        "draft",
        async function* ({ attempt }) {
          try {
            yield `attempt ${attempt}`;
            await turn();
            await turn();
            if (attempt < 3) throw new Error("overloaded");
          } finally {
            ended();
          }
        },
        { retries: 2 },
      ),
    );
    expect(parts).toEqual([
      { block: "draft", content: [{ type: "text", text: "attempt 1" }] },
      { block: "draft", op: "reset" },
      { block: "draft", content: [{ type: "text", text: "attempt 2" }] },
      { block: "draft", op: "reset" },
      { block: "draft", content: [{ type: "text", text: "attempt 3" }] },
    ]);
    expect(outcome).toMatchObject({ kind: "done", value: "attempt 3" });
    expect(ended).toHaveBeenCalledTimes(3);
  });

  test("an attempt that fails before anything was sent sends no reset", async () => {
    const { parts, outcome } = await streamed(({ stream }) =>
      stream("draft", async function* () {
        yield "never seen";
        throw new Error("overloaded");
      }),
    );
    expect(parts).toEqual([]);
    expect(outcome).toMatchObject({ kind: "failed", error: { message: "overloaded" } });
  });

  test("the text of a generator that never waits is not held back forever", async () => {
    let most = 0;
    let pending = 0;
    await streamed(
      ({ stream }) =>
        stream("draft", async function* () {
          for (let i = 0; i < 10_000; i += 1) {
            pending += 20;
            most = Math.max(most, pending);
            yield "x".repeat(20);
          }
        }),
      {},
      emptyJournal,
      (part) => {
        pending -= textOf([part]).length;
        return undefined;
      },
    );
    expect(most).toBeLessThan(20_000);
  });

  test("waits while the client has too much to read, but not past the end of the run", async () => {
    const room = gate();
    const stop = new Stop();
    let made = 0;
    const ended = vi.fn();
    const run = streamed(
      ({ stream }) =>
        stream("draft", async function* () {
          try {
            for (; made < 1_000; made += 1) {
              yield "x".repeat(20_000);
            }
          } finally {
            ended();
          }
        }),
      { stop },
      emptyJournal,
      () => room.opened,
    );
    for (let i = 0; i < 10; i += 1) await turn();
    expect(made).toBe(0);
    stop.stop("Disconnected");
    const { outcome, parts } = await run;
    expect(outcome.kind).toBe("stopped");
    await vi.waitFor(() => expect(ended).toHaveBeenCalled());
    expect(made).toBe(0);
    // The client is gone, so it is not told that the parts are taken back.
    expect(parts).toHaveLength(1);
  });

  test("goes on when there is room again", async () => {
    const room = gate();
    const run = streamed(
      ({ stream }) =>
        stream("draft", async function* () {
          yield "x".repeat(20_000);
          yield "y";
        }),
      {},
      emptyJournal,
      () => room.opened,
    );
    for (let i = 0; i < 10; i += 1) await turn();
    room.open();
    expect((await run).outcome).toMatchObject({ value: `${"x".repeat(20_000)}y` });
  });

  test("works where nothing listens", async () => {
    const outcome = await runOnce((operations) =>
      streamingOn(operations, undefined).stream("draft", async function* () {
        yield "quiet";
      }),
    );
    expect(outcome).toMatchObject({ kind: "done", value: "quiet" });
  });
});

describe("ctx.emit", () => {
  test("sends one piece, and records it", async () => {
    const { parts, outcome } = await streamed(async ({ emit }) => {
      await emit("chart", image);
      await emit("title", "Q2");
      return "done";
    });
    expect(parts).toEqual([
      { block: "chart", content: [image] },
      { block: "title", content: [{ type: "text", text: "Q2" }] },
    ]);
    expect("entries" in outcome && outcome.entries).toEqual([
      { kind: "step", key: "chart", value: [image], isStream: true },
      { kind: "step", key: "title", value: "Q2", isStream: true },
    ]);
  });
});

test("a marked entry is stored so that version 0.1.0 reads it as a step", () => {
  const entry: Entry = { kind: "step", key: "draft", value: "text", isStream: true };
  expect(packEntry(entry)).toEqual(["s", "draft", "text", 1]);
  expect(unpackEntry(["s", "draft", "text", 1])).toEqual(entry);
  expect(unpackEntry(["s", "draft", "text"])).toEqual({
    kind: "step",
    key: "draft",
    value: "text",
  });
});
