// One handler, driven to its end by the official client through each way of a question: with forms only, with pages only, and
// with nothing. Every body runs once, and the results are equal.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { memoryStore } from "mcp-parley";
import { expect, onTestFinished, test } from "vitest";
import { stdioPlace } from "../interop/stdio-place.ts";
import { followText } from "./follows-text.ts";
import { deeds, fields, outcome, tripApp } from "./trip.ts";
import { answersOn, openWorld } from "./world.ts";

const clients = {
  "forms only": { elicitation: { form: {} } },
  "pages only": { elicitation: { url: {} } },
  nothing: {},
} as const;
type Kind = keyof typeof clients;

const eras = {
  "2025-11-25": { mode: "legacy" },
  "2026-07-28": { mode: { pin: "2026-07-28" } },
} as const;
type Era = keyof typeof eras;

type Connecting = Parameters<Client["connect"]>[0];

async function connect(kind: Kind, era: Era, transport: Connecting) {
  const options: ClientOptions = { capabilities: clients[kind], versionNegotiation: eras[era] };
  const client = new Client({ name: "official", version: "1.0.0" }, options);
  const shown: string[] = [];
  if (kind !== "nothing") {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      shown.push(params.message);
      if (params.mode === "url") {
        await answersOn(params.url);
        return { action: "accept" };
      }
      const names = Object.keys(params.requestedSchema.properties);
      const content = names.map((name) => [name, fields[name] ?? ""]);
      return { action: "accept", content: Object.fromEntries(content) };
    });
  }
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, args: Readonly<Record<string, unknown>>) => {
    const { content } = await client.callTool({ name, arguments: { ...args } });
    return content.map((block) => (block.type === "text" ? block.text : ""));
  };
  return { call, shown };
}

/** Which questions the client itself shows. The others reach the user through the model. */
const shows: Readonly<Record<Kind, readonly string[]>> = {
  "forms only": ["Where to, and for how long?", "Which seat?", "Pay for Ada?"],
  "pages only": ["Where to, and for how long?", "Which seat?", "Your card number?", "Pay for Ada?"],
  nothing: [],
};

async function comesToItsEnd(kind: Kind, era: Era, open: (world: string) => Promise<Connecting>) {
  const world = await openWorld();
  const { call, shown } = await connect(kind, era, await open(world.url));
  const { text, told } = await followText(call, "book_trip", { who: "Ada" });
  expect(text).toBe(outcome);
  expect(world.done).toEqual(deeds);
  expect([...new Set(shown)]).toEqual(shows[kind]);
  // No secret and no word of the author is in what the model takes as an instruction.
  for (const [instruction = ""] of told) {
    expect(instruction.length).toBeLessThan(600);
    expect(instruction).not.toMatch(/card|Pay for|Where to|seat\?/);
  }
  expect(JSON.stringify(told)).not.toContain("4111");
}

const all = (Object.keys(clients) as Kind[]).flatMap((kind) =>
  (Object.keys(eras) as Era[]).map((era): [Kind, Era] => [kind, era]),
);

test.each(all)("over HTTP, a client with %s of %s comes to the same end", async (kind, era) => {
  await comesToItsEnd(kind, era, async (world) => {
    const app = tripApp(world, { store: memoryStore(), limits: { inlineMs: 100 } });
    onTestFinished(() => app.close());
    const { url } = await app.listen(0);
    return new StreamableHTTPClientTransport(new URL(url));
  });
});

test.each(all)("over stdio, a client with %s of %s comes to the same end", async (kind, era) => {
  await comesToItsEnd(kind, era, async (world) => {
    const place = stdioPlace(new URL("stdio-trip.ts", import.meta.url));
    const env = { ...process.env, PARLEY_TEST_WORLD: world } as Record<string, string>;
    return new StdioClientTransport({ ...place, env, stderr: "inherit" });
  });
});
