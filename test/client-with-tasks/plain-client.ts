// A plain official client with `withTasks`, whose handlers always give the same answers.

import { Client } from "@modelcontextprotocol/client";
import type { CallToolResult, ClientOptions, Transport } from "@modelcontextprotocol/client";
import { withTasks } from "../../src/client/index.ts";
import type { WithTasksOptions } from "../../src/client/index.ts";

export interface PlainClient {
  readonly client: Client;
  /** The questions it was asked, in order. */
  readonly shown: string[];
  readonly errors: Error[];
}

type Content = Record<string, string | number | boolean | string[]>;

export interface People {
  /** The content for a form, by its message. With undefined, the form is accepted without content. */
  readonly say?: (message: string) => Content | undefined;
  readonly versionNegotiation?: ClientOptions["versionNegotiation"];
  readonly options?: WithTasksOptions;
}

export async function plainClient(
  transport: Transport,
  {
    say = () => undefined,
    versionNegotiation = { mode: { pin: "2026-07-28" } },
    options = {},
  }: People = {},
): Promise<PlainClient> {
  const client = new Client(
    { name: "plain", version: "1.0.0" },
    {
      versionNegotiation,
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    },
  );
  const shown: string[] = [];
  const errors: Error[] = [];
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other
  client.onerror = (error) => void errors.push(error);
  client.setRequestHandler("elicitation/create", ({ params }) => {
    shown.push(params.message);
    const content = say(params.message);
    return { action: "accept", ...(content === undefined ? {} : { content }) };
  });
  client.setRequestHandler("sampling/createMessage", () => {
    shown.push("(sampling)");
    return { role: "assistant", content: { type: "text", text: "Bread first" }, model: "plain" };
  });
  client.setRequestHandler("roots/list", () => {
    shown.push("(roots)");
    return { roots: [{ uri: "file:///bakery" }] };
  });
  await client.connect(withTasks(transport, options));
  return { client, shown, errors };
}

export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
