// The handlers of the interoperation tests: everything that an author can register, asking in every way. Every carrier
// serves them unchanged.

import { inputRequired, parley } from "mcp-parley";
import type { App, Logger, ParleyOptions, Prompt, Resource, Tool } from "mcp-parley";
import { acceptedContent } from "@modelcontextprotocol/server";
import { z } from "zod";

export interface Errands {
  readonly app: App;
  readonly tools: Readonly<Record<string, Tool>>;
  readonly prompts: Readonly<Record<string, Prompt>>;
  readonly resources: Readonly<Record<string, Resource>>;
}

/** Not a secret, because it only seals the tokens of tests. */
export const keys = "interop:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

const nothing = () => {};
/** For tests that do not look at the log. */
export const quiet: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** `done` lists what the step bodies did. The instances of one server may share it. */
export function errands(options: Partial<ParleyOptions> = {}, done: string[] = []): Errands {
  const app = parley({
    logger: quiet,
    ...options,
    name: "errands",
    version: "1.0.0",
    auth: undefined,
  });
  const did = (what: string) => void done.push(what);

  const bookTrip = app.tool(
    "book_trip",
    { description: "Five questions of five kinds", inputSchema: z.object({ to: z.string() }) },
    async ({ to }, ctx) => {
      const { trains } = await ctx.step("search", () => {
        did("search");
        return { trains: 3 };
      });
      const who = await ctx.ask(
        "who",
        `${trains} trains to ${to}. Who travels?`,
        z.object({ name: z.string().min(1), seats: z.int().min(1).max(9) }),
      );
      await ctx.step("hold", () => did("hold"));
      const by = await ctx.choose("by", `How does ${who.name} travel?`, ["Train", "Night train"]);
      await ctx.step("price", () => did("price"));
      const isSure = await ctx.confirm("sure", `Book ${who.seats} seats by ${by}?`);
      await ctx.step("book", () => did("book"));
      const motto = await ctx.sample("motto", `A motto for a trip to ${to}`);
      await ctx.step("print", () => did("print"));
      const [root] = await ctx.roots();
      await ctx.step("file", () => did("file"));
      return `${who.name}, ${who.seats} seats, ${by}, ${isSure ? "booked" : "not booked"}, “${motto.text}”, filed in ${root?.uri}`;
    },
  );

  const together = app.tool("together", { description: "Asks in one round" }, async (ctx) => {
    const [name, place] = await Promise.all([
      ctx.ask("name", "Your name?"),
      ctx.sample("place", "Name a place"),
    ]);
    await ctx.step("together", () => did("together"));
    return `${name} in ${place.text}`;
  });

  const importRows = app.tool(
    "import_rows",
    { description: "Hands its work back between two steps" },
    async (ctx) => {
      await ctx.step("first half", () => did("first half"));
      ctx.progress(1, 2);
      await ctx.checkpoint();
      await ctx.step("second half", () => did("second half"));
      ctx.progress(2, 2);
      return "imported";
    },
  );

  const Stage = z.object({ stage: z.literal("asked for the age") });
  const wizard = app.tool("wizard", { description: "Drives the rounds itself" }, async (ctx) => {
    const name = acceptedContent(ctx.answers, "name", z.object({ name: z.string() }));
    if (name === undefined) {
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } } as const;
      return inputRequired({
        inputRequests: { name: inputRequired.elicit({ message: "Name?", requestedSchema }) },
      });
    }
    const age = acceptedContent(ctx.answers, "age", z.object({ age: z.int() }));
    if (age === undefined) {
      return inputRequired({
        inputRequests: {
          age: inputRequired.elicit({
            message: "Age?",
            requestedSchema: z.object({ age: z.int() }),
          }),
        },
        state: { stage: "asked for the age" } satisfies z.input<typeof Stage>,
      });
    }
    did("wizard");
    return `${name.name} is ${age.age}; last ${ctx.state(Stage)?.stage}`;
  });

  const ask = app.tool(
    "count_to",
    { description: "So many questions one after the other", inputSchema: z.object({ n: z.int() }) },
    async ({ n }, ctx) => {
      for (let i = 1; i <= n; i += 1) await ctx.confirm(`q${i}`, `Number ${i}?`);
      return `counted to ${n}`;
    },
  );

  const page = app.tool("sign_in", { description: "Sends the person to a page" }, async (ctx) => {
    await ctx.openUrl("page", "Sign in", (ticket) => `https://example.com/in?state=${ticket}`);
    await ctx.step("sign in", () => did("sign in"));
    return "signed in";
  });

  const ledger = app.tool(
    "ledger",
    {
      description: "What has been done since this was last asked. Asks nothing",
      outputSchema: z.object({ done: z.array(z.string()) }),
    },
    () => ({ done: done.splice(0) }),
  );

  const letter = app.prompt(
    "letter",
    { description: "A prompt that asks", argsSchema: z.object({ tone: z.string() }) },
    async ({ tone }, ctx) => {
      await ctx.step("paper", () => did("paper"));
      const to = await ctx.ask("to", "To whom?");
      return `Write a ${tone} letter to ${to}.`;
    },
  );

  const today = app.resource(
    "today",
    "diary://today",
    { mimeType: "text/plain" },
    async (_, ctx) => {
      await ctx.step("open", () => did("open"));
      const mood = await ctx.choose("mood", "Which mood?", ["good", "bad"]);
      return `a ${mood} day`;
    },
  );

  const day = app.resource("day", "diary://days/{day}", {}, async (_, variables, ctx) => {
    await ctx.step("turn", () => did("turn"));
    const pen = await ctx.ask("pen", "Which pen?");
    return `${variables.day} in ${pen}`;
  });

  return {
    app,
    tools: Object.fromEntries(
      [bookTrip, together, importRows, wizard, ask, page, ledger].map((tool) => [tool.name, tool]),
    ),
    prompts: { letter },
    resources: { "diary://today": today, "diary://days/monday": day },
  };
}
