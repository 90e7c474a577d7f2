// Our side of a run with a peer: the server that its client calls, and the two clients that call its server.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { inputRequired, memoryStore } from "mcp-parley";
import type { App } from "mcp-parley";
import { connect, withTasks } from "mcp-parley/client";
import type { Connection, Part } from "mcp-parley/client";
import { z } from "zod";
import { addTasks } from "../../conformance/tasks.ts";
import { errands, keys } from "../errands.ts";
import type { Answer, Errand, Outcome } from "./peer-errands.ts";

export function ourServer({ lenientTaskRouting = false } = {}): App {
  const { app } = errands({ keys, store: memoryStore(), lenientTaskRouting });
  addTasks(app);
  app.tool("ask_name", { description: "Asks a form" }, async (ctx) => {
    const { name } = await ctx.ask("name", "Your name?", z.object({ name: z.string() }));
    return `Hello, ${name}!`;
  });
  app.tool("where", { description: "Asks for the roots" }, async (ctx) => {
    const [root] = await ctx.roots();
    return String(root?.uri);
  });
  app.tool("where_bare", { description: "Asks for the roots without params" }, (ctx) => {
    const { roots = [] } = Object(ctx.answers["roots"]);
    if (roots.length > 0) return String(roots[0].uri);
    return inputRequired({ inputRequests: { roots: { method: "roots/list" } } });
  });
  app.tool("count", { description: "Reports progress" }, (ctx) => {
    ctx.progress(1, 2);
    ctx.progress(2, 2);
    return "counted";
  });
  app.tool("write", { description: "Streams a text, which it begins twice" }, async (ctx) => {
    // A client without parts gets lines as progress, and how many there are depends on the time that they take.
    if (!ctx.can("stream")) {
      await ctx.emit("letter", "Dear Ada");
      return "Dear Ada";
    }
    let attempts = 0;
    return ctx.stream(
      "letter",
      async function* () {
        attempts += 1;
        // A part ends with its turn of the event loop.
        for (const piece of ["Dear", " ", attempts === 1 ? "Eve" : "Ada"]) {
          yield piece;
          await nextTurn();
        }
        if (attempts === 1) throw new Error("The wrong name.");
      },
      { retries: 1, backoffMs: 1 },
    );
  });
  app.tool("announce", { description: "Streams a line" }, async (ctx) => {
    await ctx.emit("news", "Hear, hear");
    return "Hear, hear";
  });
  return app;
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

const roots = [{ uri: "file:///home/ada", name: "home" }];

function answerOf({ answers = {} }: Errand, message: string): Answer {
  const answer = answers[message];
  if (answer === undefined) throw new Error(`No answer is prepared for “${message}”.`);
  return answer;
}

/** Does the errand with `connect`. */
export async function withConnect(url: string, errand: Errand): Promise<Outcome> {
  return outcomeOf(async () => {
    const server = await connect(url, {
      name: "interop",
      version: "1.0.0",
      era: errand.era,
      streams: errand.stream === true,
      tasks: errand.task !== undefined,
      roots,
      elicit: ({ message }) => {
        const { action, content } = answerOf(errand, message);
        return action === "accept" ? { action, content: content && { ...content } } : { action };
      },
      sample: ({ messages }) => completion(messages),
    });
    try {
      return await done(server, errand);
    } finally {
      await server.close();
    }
  });
}

async function done(server: Connection, errand: Errand): Promise<Outcome> {
  const { tool, prompt, resource, arguments: args = {} } = errand;
  if (prompt !== undefined) {
    const { messages } = await server.prompt(prompt, textsOf(args));
    return { text: texts(messages.map(({ content }) => content)) };
  }
  if (resource !== undefined) return { text: texts((await server.read(resource)).contents) };
  const call = server.start(tool ?? "", args);
  let progress = 0;
  let streamed: string | undefined;
  for await (const event of call) {
    if (event.type === "progress") progress = event.done ?? 0;
    if (event.type === "part") streamed = event.soFar.text;
    if (event.type === "task" && errand.task === "cancel") await call.cancel();
  }
  const { text, isError } = await call.result();
  return {
    text,
    ...(isError === true && { isError }),
    ...(errand.progress !== undefined && { progress }),
    ...(streamed !== undefined && { streamed }),
  };
}

/** Does the errand with the official client, whose transport `withTasks` extends. */
export async function withOfficial(url: string, errand: Errand): Promise<Outcome> {
  return outcomeOf(async () => {
    const client = new Client(
      { name: "interop", version: "1.0.0" },
      {
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
        versionNegotiation: { mode: errand.era === undefined ? "auto" : { pin: errand.era } },
      },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const { action, content } = answerOf(errand, params.message);
      return { action, ...(content && { content: { ...content } }) };
    });
    client.setRequestHandler("sampling/createMessage", async ({ params }) =>
      completion(params.messages),
    );
    client.setRequestHandler("roots/list", async () => ({ roots }));
    let streamed: string | undefined;
    const onPart = (part: Part) => void (streamed = part.soFar.text);
    const transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(withTasks(transport, errand.stream === true ? { onPart } : {}));
    try {
      const result = await client.callTool({
        name: errand.tool ?? "",
        arguments: { ...errand.arguments },
      });
      return {
        text: texts(Array.isArray(result.content) ? result.content : []),
        ...(result.isError === true && { isError: true }),
        ...(streamed !== undefined && { streamed }),
      };
    } finally {
      await client.close();
    }
  });
}

async function outcomeOf(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { code } = codeOf(error);
    if (code === "cancelled") return { text: "cancelled" };
    return { text: "", error: { ...(code !== undefined && { code }), message: error.message } };
  }
}

function completion(messages: readonly { readonly content: unknown }[]) {
  return {
    role: "assistant" as const,
    content: {
      type: "text" as const,
      text: `${texts(messages.map(({ content }) => content))}, said the model`,
    },
    model: "interop",
    stopReason: "endTurn",
  };
}

const codeOf = (error: object): { readonly code?: number | string } =>
  "code" in error && (typeof error.code === "number" || typeof error.code === "string")
    ? { code: error.code }
    : {};

const textsOf = (args: object): Record<string, string> =>
  Object.fromEntries(Object.entries(args).map(([name, value]) => [name, String(value)]));

/** The text in content blocks. */
function texts(blocks: readonly unknown[]): string {
  return blocks
    .flat()
    .map((block) =>
      typeof block === "object" && block !== null && "text" in block ? String(block.text) : "",
    )
    .join("\n");
}
