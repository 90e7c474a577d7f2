// 002, traces across rounds: later rounds are linked to the first one, whether the client or the sealed state names it.

import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, expect, test } from "vitest";
import { multiRound } from "../../examples/seeds/mcpkit.ts";
import { accept, callTool, tokenIn } from "../wire/post.ts";
import { serving } from "./serving.ts";

const spans = new InMemorySpanExporter();
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
afterAll(() => {
  trace.disable();
  context.disable();
});

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

/** Plays three rounds, the later two with this link. Returns the span of the first round, and the links of each round. */
async function linksOf(
  tracelink: unknown,
): Promise<[own: string | undefined, ...links: string[][]]> {
  const app = await serving(multiRound);
  spans.reset();
  const meta = { "io.modelcontextprotocol/tracelink": tracelink };
  const first = await callTool(app, "multi_round");
  const second = await callTool(
    app,
    "multi_round",
    {},
    { meta, requestState: tokenIn(first), inputResponses: { step1: accept({ step1: "Alice" }) } },
  );
  await callTool(
    app,
    "multi_round",
    {},
    { meta, requestState: tokenIn(second), inputResponses: { step2: accept({ step2: "blue" }) } },
  );
  const rounds = spans.getFinishedSpans().filter(({ name }) => name === "tools/call multi_round");
  return [
    rounds[0]?.spanContext().spanId,
    ...rounds.map(({ links }) => links.map((link) => link.context.spanId)),
  ];
}

test("later rounds are linked to the first: to ours by the sealed state, to the client's by mcpkit's key", async () => {
  const [own, first, second, third] = await linksOf(`00-${traceId}-${spanId}-01`);
  expect(first).toEqual([]);
  expect(second).toEqual([own, spanId]);
  // The links form a star: each leads to the first round, not to the one before.
  expect(third).toEqual(second);
});

test.each(["", 7, `00-${"0".repeat(32)}-${spanId}-01`, `00-${traceId}-${spanId}`, "nonsense"])(
  "an invalid link is skipped: %j",
  async (tracelink) => {
    const [own, , second] = await linksOf(tracelink);
    expect(second).toEqual([own]);
  },
);
