// A server with a question of each kind, and the pages of it.

import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { z } from "zod";
import { own } from "../../src/util/objects.ts";
import { keys, quiet } from "../interop/errands.ts";
import { callTool } from "../wire/post.ts";
import { until } from "./chromium.ts";

const Everything = z.object({
  name: z.string().min(2).meta({ title: "Your name", description: "As it is on your badge." }),
  mail: z.email().optional(),
  site: z.url().optional(),
  day: z.iso.date().optional(),
  guests: z.int().min(0).max(9).default(1),
  meal: z.enum(["Fish", "Pasta", "Soup"]),
  country: z.enum(["AT", "BE", "CH", "DE", "ES", "FR", "IT", "NL"]).optional(),
  extras: z
    .array(z.enum(["Parking", "Breakfast"]))
    .max(2)
    .optional(),
  remarks: z.string().max(500).optional(),
  newsletter: z.boolean().default(true),
});

const sentence = "A part of the platform that nobody has touched for years. ";
/** Texts that are longer than anyone would like, one of them without a space. */
const Long = z.object({
  ["where_the_thing_that_has_to_be_moved_stands_now_and_where_it_goes"]: z
    .string()
    .meta({ description: sentence.repeat(6) }),
  which: z.enum([`${sentence.repeat(3)}(one)`, "unbroken".repeat(20)]),
  list: z.enum(Array.from({ length: 200 }, (_, n) => `Choice ${n}: ${sentence}`)),
});

const Arabic = z.object({
  name: z.string().meta({ title: "اسمك", description: "كما هو مكتوب في جواز السفر." }),
  meal: z.enum(["سمك", "معكرونة"]).meta({ title: "الوجبة" }),
  notes: z.string().max(500).optional().meta({ title: "ملاحظات" }),
  agreed: z.boolean().meta({ title: "أوافق على الشروط" }),
});

const Tree = z.object({ parts: z.array(z.object({ name: z.string() })) });
const Quote = z.object({ price: z.int().min(1), note: z.string().max(500).optional() });

function addTools(app: App, links: string[]): void {
  app.tool("book", {}, async (ctx) =>
    JSON.stringify(await ctx.ask("q", "Please complete your booking for 4 March.", Everything)),
  );
  app.tool("erase", {}, async (ctx) =>
    String(await ctx.confirm("q", "Erase the archive of 2024? This cannot be undone.")),
  );
  app.tool("key", {}, (ctx) => ctx.ask("q", "Your API key?", undefined, { sensitive: true }));
  app.tool("certificate", {}, (ctx) =>
    ctx.ask("q", "Your private key?", z.string().max(4000), { sensitive: true }),
  );
  app.tool("login", {}, async (ctx) => {
    const Login = z.object({ user: z.string(), password: z.string().min(8) });
    return (await ctx.ask("q", "Your login at the bank?", Login, { sensitive: true })).user;
  });
  app.tool("long", {}, async (ctx) => JSON.stringify(await ctx.ask("q", sentence.repeat(8), Long)));
  app.tool("arabic", {}, async (ctx) =>
    JSON.stringify(await ctx.ask("q", "يرجى إكمال حجزك ليوم 4 مارس.", Arabic)),
  );
  app.tool("brief", {}, async (ctx) =>
    String(await ctx.confirm("q", "Are you there?", { timeoutMs: 1 })),
  );
  const notify = ({ url }: { readonly url: string }) => void links.push(url);
  app.tool("quote", { task: "required" }, async (ctx) => {
    const about = {
      Amount: "$500",
      "Requested by": "ada@example.com",
      Urgent: true,
      Reason: sentence.repeat(2),
    };
    return String((await ctx.waitFor("the-quote", Quote, { about, notify })).price);
  });
  app.tool("tree", { task: "required" }, async (ctx) => {
    const { parts } = await ctx.waitFor("tree", Tree, { notify });
    return parts.map(({ name }) => name).join(" ");
  });
}

/** A server that listens. */
export interface Desk {
  readonly app: App;
  /** The address of the page of a tool's question, and the state of its call. */
  readonly ask: (tool: string) => Promise<{ readonly url: string; readonly state: string }>;
  /** The address of the page of a task's `waitFor`. */
  readonly wait: (tool: string) => Promise<string>;
  /** The client says that its user is done. */
  readonly answered: (tool: string, state: string) => Promise<string>;
}

export async function openDesk(options: Partial<ParleyOptions> = {}): Promise<Desk> {
  const settings = { name: "desk", version: "1.0.0", keys, logger: quiet, store: memoryStore() };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- settings of one kind or the other
  const app = parley({ ...settings, ...options } as ParleyOptions);
  const links: string[] = [];
  addTools(app, links);
  await app.listen(0);
  const capabilities = { elicitation: { url: {} } };
  return {
    app,
    ask: async (tool) => {
      const { result } = await callTool(app, tool, {}, { capabilities });
      const url = String(own(own(own(own(result, "inputRequests"), "q"), "params"), "url"));
      return { url, state: String(result?.["requestState"]) };
    },
    wait: async (tool) => {
      links.length = 0;
      const extensions = { "io.modelcontextprotocol/tasks": {} };
      await callTool(app, tool, {}, { capabilities: { ...capabilities, extensions } });
      await until(() => links.length === 1);
      const [url = ""] = links;
      // The link is sent before the question is kept.
      await until(async () => (await (await fetch(url)).text()).includes("<form"));
      return url;
    },
    answered: async (tool, requestState) => {
      const inputResponses = { q: { action: "accept" } };
      const sent = { capabilities, requestState, inputResponses };
      const { result } = await callTool(app, tool, {}, sent);
      const content = result?.["content"];
      return String(Array.isArray(content) ? own(content[0], "text") : undefined);
    },
  };
}
