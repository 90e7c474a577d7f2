// The program that the official suite starts to test our client: `npm run conformance:client -- <url>`. The environment
// names the scenario and the revision.

import { once } from "node:events";
import process from "node:process";
import { connect } from "../../src/client/index.ts";
import type { Connection, ConnectOptions } from "../../src/client/index.ts";
import { given, revision, scenario, url } from "./environment.ts";
import { signedIn } from "./signed-in.ts";

/** If it is not set, the connection uses the newest revision that both sides speak. */
const era: ConnectOptions = revision === "2025-11-25" ? { era: revision } : {};

async function connected(
  options: ConnectOptions,
  use: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const connection = await connect(url, { ...era, ...options });
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
}

const toolsOf = async ({ sdk }: Connection) => (await sdk.listTools()).tools;

/** Calls one tool by name. */
const calls = (tool: string, args: Record<string, unknown> = {}) =>
  connected({}, async (connection) => {
    await toolsOf(connection);
    await connection.call(tool, args);
  });

const lists = () => connected({}, toolsOf);

/** Sends one request of each kind. */
const everything = () =>
  connected({}, async (connection) => {
    const { sdk } = connection;
    const [tool] = await toolsOf(connection);
    if (tool !== undefined) await connection.call(tool.name, {});
    const { resources } = await sdk.listResources();
    if (resources[0] !== undefined) await connection.read(resources[0].uri);
    const { prompts } = await sdk.listPrompts();
    if (prompts[0] !== undefined) await connection.prompt(prompts[0].name);
  });

/** Makes the calls that the suite expects. */
const asTold = () =>
  connected({}, async (connection) => {
    await toolsOf(connection);
    for (const { name, arguments: args } of given.toolCalls ?? [])
      await connection.call(name, args);
  });

/** Passes a tool's schema back unchanged, so that the suite can compare it. */
const echoesSchema = () =>
  connected({}, async (connection) => {
    const [told, echo] = await toolsOf(connection);
    await connection.call(echo?.name ?? "", { schema: told?.inputSchema });
  });

/** Calls every listed tool. The client has removed those that must not be called. */
const allThatAreLeft = () =>
  connected({}, async (connection) => {
    for (const { name } of await toolsOf(connection)) await connection.call(name, {});
  });

/** The answer to every question. */
const accepting = (content: { confirmed?: boolean }): ConnectOptions => ({
  elicit: () => ({ action: "accept", content }),
});

const rounds = () =>
  connected(accepting({ confirmed: true }), async (connection) => {
    for (const { name } of await toolsOf(connection)) await connection.call(name, {});
  });

/** Waits for the session's own stream, because this server asks over it. */
const defaults = () => {
  const isOpen = new EventTarget();
  const opened = once(isOpen, "open");
  const watched: typeof fetch = async (to, init) => {
    const response = await fetch(to, init);
    if (init?.method === "GET") isOpen.dispatchEvent(new Event("open"));
    return response;
  };
  return connected({ ...accepting({}), fetch: watched }, async (connection) => {
    await opened;
    await connection.call("test_client_elicitation_defaults");
  });
};

const ways: { readonly [scenario: string]: () => Promise<void> } = {
  initialize: lists,
  "request-metadata": lists,
  "json-schema-ref-no-deref": lists,
  "json-schema-2020-12-preservation": echoesSchema,
  tools_call: () => calls("add_numbers", { a: 5, b: 3 }),
  "http-standard-headers": everything,
  "http-custom-headers": asTold,
  "http-invalid-tool-headers": allThatAreLeft,
  "sep-2322-client-request-state": rounds,
  "elicitation-sep1034-client-defaults": defaults,
  "sse-retry": () => calls("test_reconnection"),
};

const isAuth = scenario.startsWith("auth/");
const way = isAuth ? () => signedIn(era) : ways[scenario];
if (way === undefined) throw new Error(`This client does not know the scenario "${scenario}".`);
await way();
process.exit(0);
