// Mistakes that do not compile. `tsc` checks them: an `@ts-expect-error` fails the build if its line is accepted.
// Mistakes that the types cannot see are in test/mistakes.test.ts, with their messages.

import { McpServer } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { Context } from "mcp-parley";
import { play } from "mcp-parley/testing";
import { z } from "zod";

const app = parley({ name: "mistakes", version: "1.0.0" });

// A form has one level.
app.tool("nested", {}, async (ctx) => {
  // @ts-expect-error -- field "address" is not a string, number, boolean, enum or list of enum strings
  await ctx.ask("shipping", "Where to?", z.object({ address: z.object({ city: z.string() }) }));
  return "";
});

// A condition on a question that is not awaited. TypeScript finds it, but not its negation.
app.tool("forgotten", {}, async (ctx) => {
  // @ts-expect-error -- this condition will always return true since this Promise is always defined
  if (ctx.confirm("go", "Go?")) return "gone";
  return "";
});

// Tools that do not declare `task` cannot go to the background.
app.tool("background", {}, async (ctx) => {
  // @ts-expect-error -- add task: 'optional' in this tool's config
  await ctx.background();
  return "";
});

// Without an outputSchema, a tool returns text or a full result.
// @ts-expect-error -- a Date is neither
app.tool("date", {}, async () => new Date());
// @ts-expect-error -- nor is an object
app.tool("object", {}, async () => ({ id: 1 }));
// @ts-expect-error -- with an outputSchema, the structured content has to fit it
app.tool("misfit", { outputSchema: z.object({ id: z.int() }) }, async () => ({ id: "one" }));

// The value of a step is what JSON preserves of it.
app.tool("stored", {}, async (ctx) => {
  const bug = await ctx.step("fetch", () => ({ openedAt: new Date() }));
  // @ts-expect-error -- a Date comes back as a string
  bug.openedAt.getFullYear();
  const seen = await ctx.step("seen", () => new Map([["a", 1]]));
  // @ts-expect-error -- JSON cannot preserve a Map
  seen.get("a");
  return "";
});

// A confirmation is proof, so it never accepts an answer that was sent without being asked for.
app.tool("unsolicited", {}, async (ctx) => {
  // @ts-expect-error -- confirm has no such option
  await ctx.confirm("go", "Go?", { unsolicited: true });
  return "";
});

// Only the choices are possible values.
app.tool("choices", {}, async ({ choose }: Context) => {
  const size = await choose("size", "Which size?", ["S", "M"]);
  // @ts-expect-error -- "L" is not one of them
  return size === "L" ? "large" : size;
});

// The test kit knows the types of the arguments and the result.
const add = app.tool(
  "add",
  { inputSchema: z.object({ a: z.int() }), outputSchema: z.object({ sum: z.int() }) },
  async ({ a }) => ({ sum: a }),
);
// @ts-expect-error -- a misspelt argument
void play(add, { aa: 1 });
// @ts-expect-error -- an argument of the wrong type
void play(add, { a: "1" });
void play(add, { a: 1 }).then(({ data }) => {
  const sum: number = data.sum;
  // @ts-expect-error -- the result has no such member
  return sum + data.total;
});

const server = new McpServer({ name: "mistakes", version: "1.0.0" });
// @ts-expect-error -- each adopted tool is named
app.attach(server, { adopt: true });

// The option of a stream decides what its body yields and what comes out.
app.tool("streams", {}, async (ctx) => {
  const text: string = await ctx.stream("text", async function* () {
    yield "text";
    yield new Uint8Array();
  });
  const blocks = await ctx.stream(
    "blocks",
    async function* () {
      yield { type: "image", data: "", mimeType: "image/png" };
    },
    { blocks: true, retries: 1 },
  );
  // @ts-expect-error -- the value is a list
  blocks.trim();
  // @ts-expect-error -- blocks need the option
  await ctx.stream("forgotten", async function* () {
    yield { type: "text", text };
  });
  // @ts-expect-error -- a string is not a stream
  await ctx.stream("whole", () => "text");
  // @ts-expect-error -- one block at a time
  await ctx.emit("rows", [{ type: "text", text }]);
  return text;
});

// A group needs a tool that can wait for it.
const approvalArgs = z.object({ repo: z.string() });
app.tool(
  "approves",
  { inputSchema: approvalArgs, approve: ({ repo }) => `Delete ${repo}?` },
  async (_args, ctx) => {
    const { decisions } = await ctx.approve("pay", "Pay?", { about: { Amount: 5 }, relay: true });
    const at: Date | undefined = decisions[0]?.at;
    // @ts-expect-error -- no task in its config
    await ctx.approve("pay", "Pay?", { by: "managers" });
    // @ts-expect-error -- an approval is not a boolean
    if ((await ctx.approve("again", "Pay?")) === true) return "paid";
    return String(at);
  },
);
app.tool(
  "waits",
  {
    task: "optional",
    inputSchema: approvalArgs,
    approve: {
      message: ({ repo }, { tool }) => (repo === "" ? undefined : tool),
      by: "admins",
      of: 2,
    },
  },
  async (_args, ctx) => {
    await ctx.approve("pay", "Pay?", { by: "managers", of: 2, notify: ({ url }) => url });
    // @ts-expect-error -- a group does not go through the model
    await ctx.approve("model", "Pay?", { by: "managers", relay: true, notify: 5 });
    return "paid";
  },
);
app.tool(
  "bare",
  { approve: ({ principal }) => (principal === "root" ? undefined : "Go on?") },
  () => "",
);
// @ts-expect-error -- a group needs task: "optional"
app.tool("lacks_task", { approve: { message: "Go on?", by: "admins" } }, () => "");
app.tool(
  "other_args",
  {
    inputSchema: approvalArgs,
    // @ts-expect-error -- this tool has no such argument
    approve: ({ name }) => `Delete ${name}?`,
  },
  () => "",
);
app.prompt("prompted", {}, async (ctx) => {
  await ctx.approve("go", "Go on?");
  // @ts-expect-error -- only a tool with task can wait for a group
  await ctx.approve("group", "Go on?", { by: "admins" });
  return "text";
});
app.gate("deletions", {
  tools: ["delete_*"],
  message: ({ tool, args }) => `${tool} ${String(args["name"])}?`,
});
// @ts-expect-error -- the group is constant
app.gate("computed", { tools: ["*"], message: "Go on?", by: () => "admins" });
// @ts-expect-error -- a gate needs a name
app.gate({ tools: ["*"], message: "Go on?" });

// A host is an object with `waitUntil`. The bindings of a Worker are not one.
const request = new Request("https://mistakes.example.com/mcp");
const waitUntil = (_promise: Promise<unknown>): void => {};
void app.fetch(request, { waitUntil });
// @ts-expect-error -- pass { waitUntil }
void app.fetch(request, waitUntil);
// @ts-expect-error -- there is no such member
void app.fetch(request, { waitUntill: waitUntil });
// @ts-expect-error -- env has no waitUntil
void app.fetch(request, { DB: {} });
// What platforms take as a handler.
const worker: { fetch: (request: Request, env: object, ctx: object) => Promise<Response> } = app;
void worker;
