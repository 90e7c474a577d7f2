// A hundred calls at once over one connection, each with questions. No answer reaches another call.

import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { Connection, ConnectOptions, OpenQuestion } from "../../src/client/index.ts";
import { stdioPlace } from "../interop/stdio-place.ts";
import { many } from "./many-server.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

// A busy machine may take longer to serve them all than a client waits by default.
const limits = { silenceMs: 280_000 };

async function overHttp(options: ConnectOptions): Promise<Connection> {
  const app = many();
  const { url } = await app.listen(0);
  open.push(() => app.close());
  const connection = await connect(url, { ...options, limits });
  open.push(() => connection.close());
  return connection;
}

async function overStdio(options: ConnectOptions): Promise<Connection> {
  const file = fileURLToPath(new URL("many-server.ts", import.meta.url));
  const connection = await connect(stdioPlace(file), { ...options, limits });
  open.push(() => connection.close());
  return connection;
}

const calls = Array.from({ length: 100 }, (_, n) => n);
/** Fewer calls, because another test makes the same ones in another way. */
const fewerCalls = calls.slice(0, 30);
const expected = calls.map((n) => `${n} ${n} ${n}`);
const toolOf = (n: number) => (n % 2 === 0 ? "in_rounds" : "in_a_task");
const numberIn = (question: OpenQuestion) =>
  question.kind === "form" ? Number(/\d+/.exec(question.message)?.[0]) : Number.NaN;

/** Each call answers every question it receives with its own number, so a mix-up shows in the result. */
async function drive(connection: Connection, n: number): Promise<string> {
  const call = connection.start(toolOf(n), { n });
  for await (const event of call) {
    if (event.type !== "asked") continue;
    for (const question of event.questions) {
      expect(numberIn(question)).toBe(n);
      await call.answer(question.key, { action: "accept", content: { [question.key]: n } });
    }
  }
  return (await call.result()).text;
}

test.each([
  ["HTTP", overHttp],
  ["stdio", overStdio],
])("many calls at once over %s each get their own answers by events", async (_, way) => {
  const connection = await way({ elicit: "events" });
  expect(await Promise.all(calls.map((n) => drive(connection, n)))).toEqual(expected);
});

test.each([
  ["HTTP", "2026-07-28", overHttp],
  ["HTTP", "2025-11-25", overHttp],
  ["stdio", "2026-07-28", overStdio],
  ["stdio", "2025-11-25", overStdio],
] as const)(
  "many calls at once over %s, %s, each get their own answers by a handler",
  async (_, era, way) => {
    const connection = await way({
      era,
      elicit: (question) => {
        const [name = ""] = question.kind === "form" ? Object.keys(question.schema.properties) : [];
        return { action: "accept", content: { [name]: numberIn(question) } };
      },
    });
    const results = await Promise.all(fewerCalls.map((n) => connection.call(toolOf(n), { n })));
    expect(results.map(({ text }) => text)).toEqual(expected.slice(0, fewerCalls.length));
  },
);
