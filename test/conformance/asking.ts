// The tools that ask: the suite's MRTR tools (2026-07-28), its tools for sampling and elicitation (2025-11-25), and the
// probes of its stateless scenario. The suite prescribes the names, keys and fields.

import { acceptedContent } from "@modelcontextprotocol/server";
import { inputRequired } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

const Name = z.object({ name: z.string() });
const Ok = z.object({ ok: z.boolean() });

/** `input-required-result-*`: one tool for each way to ask. */
export function addRounds(app: App): void {
  const prefix = "test_input_required_result";

  app.tool(`${prefix}_elicitation`, { description: "Asks for a name" }, async (ctx) => {
    // The suite also sends the answer with the very first request, to check that extra keys are ignored.
    const { name } = await ctx.ask("user_name", "What is your name?", Name, { unsolicited: true });
    return `Hello, ${name}!`;
  });
  app.tool(`${prefix}_sampling`, { description: "Asks the client's model" }, async (ctx) => {
    const answer = await ctx.sample("capital_question", "What is the capital of France?");
    return answer.text;
  });
  app.tool(`${prefix}_list_roots`, { description: "Asks for the client's roots" }, async (ctx) => {
    const roots = await ctx.roots("client_roots");
    return roots.map(({ uri }) => uri).join("\n");
  });
  app.tool(`${prefix}_request_state`, { description: "Asks, with state" }, async (ctx) => {
    await ctx.ask("confirm", "Please confirm", Ok);
    return "state-ok";
  });
  app.tool(`${prefix}_tampered_state`, { description: "Asks, with sealed state" }, async (ctx) => {
    await ctx.ask("confirm", "Please confirm", Ok);
    return "Nobody touched the state.";
  });
  app.tool(`${prefix}_multiple_inputs`, { description: "Asks three at once" }, async (ctx) => {
    const [{ name }, greeting, roots] = await Promise.all([
      ctx.ask("user_name", "What is your name?", Name),
      ctx.sample("greeting", { prompt: "Write a greeting", maxTokens: 50 }),
      ctx.roots("client_roots"),
    ]);
    return `${greeting.text} ${name}, of ${roots.length} roots`;
  });
  app.tool(`${prefix}_multi_round`, { description: "Asks twice, in turn" }, async (ctx) => {
    const { name } = await ctx.ask("step1", "What is your name?", Name);
    const Color = z.object({ color: z.string() });
    const { color } = await ctx.ask("step2", `What is your favourite colour, ${name}?`, Color);
    return `${name} likes ${color}.`;
  });
  app.tool(
    `${prefix}_capabilities`,
    { description: "Asks only what can be asked" },
    async (ctx) => {
      const answers = await Promise.all([
        ctx.can("form") ? ctx.ask("user_name", "What is your name?") : "nobody",
        ctx.can("sampling")
          ? ctx.sample("greeting", "Write a greeting").then(({ text }) => text)
          : "",
      ]);
      return answers.join(" ");
    },
  );
  app.prompt(`${prefix}_prompt`, { description: "A prompt that asks" }, async (ctx) => {
    const Extra = z.object({ context: z.string() });
    const { context } = await ctx.ask("user_context", "What context should it have?", Extra);
    return `Use this context: ${context}`;
  });
}

/** `server-stateless`: what a server must not do to a client that has declared few capabilities or none. */
export function addProbes(app: App): void {
  app.tool("test_missing_capability", { description: "Needs a model" }, async (ctx) => {
    const answer = await ctx.sample("question", "Say something");
    return answer.text;
  });
  app.tool("test_streaming_elicitation", { description: "Needs a person" }, async (ctx) => {
    const word = await ctx.ask("word", "Say something");
    return word;
  });
}

/** `tools-call-sampling`, `tools-call-elicitation`, `elicitation-*`: the same `ctx`, asked in a session. */
export function addSessionQuestions(app: App): void {
  app.tool(
    "test_sampling",
    { description: "Asks the client's model", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const { text } = await ctx.sample("answer", { prompt, maxTokens: 100 });
      return `LLM response: ${text}`;
    },
  );
  app.tool(
    "test_elicitation",
    { description: "Asks a person", inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) => {
      const User = z.object({
        username: z.string().describe("User's response"),
        email: z.string().describe("User's email address"),
      });
      const outcome = await ctx.elicit("user", { message, requestedSchema: User });
      return `User response: ${JSON.stringify(outcome)}`;
    },
  );
  app.tool(
    "test_elicitation_sep1034_defaults",
    { description: "A form with defaults" },
    async (ctx) => {
      const Profile = z.object({
        name: z.string().default("John Doe"),
        age: z.int().default(30),
        score: z.number().default(95.5),
        status: z.enum(["active", "inactive", "pending"]).default("active"),
        verified: z.boolean().default(true),
      });
      const outcome = await ctx.elicit("profile", {
        message: "Please look through these",
        requestedSchema: Profile,
      });
      return `Elicitation completed: ${JSON.stringify(outcome)}`;
    },
  );
  // Written by hand, because `enumNames` is deprecated and the forms of `ctx` send titles as `oneOf`.
  app.tool("test_elicitation_sep1330_enums", { description: "Every kind of choice" }, (ctx) => {
    const chosen = acceptedContent(ctx.answers, "choices");
    if (chosen !== undefined) return `Elicitation completed: ${JSON.stringify(chosen)}`;
    return inputRequired({
      inputRequests: {
        choices: {
          method: "elicitation/create",
          params: { mode: "form", message: "Please choose", requestedSchema: choices },
        },
      },
    });
  });
}

const options = ["option1", "option2", "option3"];
const titled = [
  { const: "value1", title: "First" },
  { const: "value2", title: "Second" },
  { const: "value3", title: "Third" },
];
const choices = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: titled } },
  },
} as const;
