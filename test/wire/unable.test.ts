// Clients that lack what a tool needs: what they are told, what runs before that, and what `requires` refuses.

import { inputRequired, memoryStore, parley, UnansweredError } from "mcp-parley";
import type { App } from "mcp-parley";
import { play } from "mcp-parley/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { connectV2, legacy } from "../interop/clients.ts";
import { keys } from "../interop/errands.ts";
import { People } from "../interop/people.ts";
import { callTool, textIn } from "./post.ts";
import { follows, stays } from "./task-calls.ts";
import { keepingLogger } from "./till.ts";

function made(): { readonly app: App; readonly ran: string[] } {
  const { logger } = keepingLogger();
  const app = parley({ name: "made", version: "1.0.0", keys, logger, store: memoryStore() });
  onTestFinished(() => app.close());
  return { app, ran: [] };
}

const none = { capabilities: {} };

describe("a client that cannot be asked", () => {
  test("learns the question, its choices and the missing capability", async () => {
    const { app } = made();
    app.tool("resolve_bug", {}, async (ctx) =>
      ctx.choose("how", "How was #7 resolved?", ["Fixed", { value: "dup", title: "Duplicate" }]),
    );
    app.tool("book", {}, async (ctx) => {
      const schema = z.object({ name: z.string(), seats: z.int().min(1).max(9) });
      return JSON.stringify(await ctx.ask("who", "Who?", schema));
    });
    app.tool("sign", {}, async (ctx) => {
      await ctx.openUrl("page", "Sign here", (ticket) => `https://a.example/${ticket}`);
      return "signed";
    });
    app.tool("by_hand", {}, () => {
      const requestedSchema = z.object({ size: z.enum(["S", "M"]) });
      const size = inputRequired.elicit({ message: "Which size?", requestedSchema });
      return inputRequired({ inputRequests: { size } });
    });
    const told = async (name: string) => (await callTool(app, name, {}, none)).error?.message;
    expect(await told("resolve_bug")).toBe(
      'Question "how" of "resolve_bug" was not asked: this client supports neither forms nor pages, and relay is off for it. ' +
        'The question is: "How was #7 resolved?". It expects one of "Fixed", "Duplicate".',
    );
    expect(await told("book")).toContain(
      'The question is: "Who?". It expects name (text), seats (a whole number from 1 to 9).',
    );
    expect(await told("sign")).toBe(
      '"sign" cannot ask question "page": this client does not support it, because it has not declared the elicitation.url capability. The question is: "Sign here".',
    );
    expect(await told("by_hand")).toContain(
      'question "size": this client does not support it, because it has not declared the elicitation.form capability. The question is: "Which size?". It expects one of "S", "M".',
    );
  });
});

describe("a question that needs a way to the person", () => {
  const form = { capabilities: { elicitation: { form: {} } } };
  const page = { capabilities: { elicitation: { url: {} } } };

  test("ctx.can and requires know whether an ordinary question has one", async () => {
    const { app, ran } = made();
    app.tool("looks", {}, (ctx) => String(ctx.can("ask")));
    app.tool("needs", { requires: ["ask"] }, () => {
      ran.push("needs");
      return "ran";
    });
    const said = async (name: string, client: object) =>
      textIn(await callTool(app, name, {}, client));
    expect(await said("looks", form)).toBe("true");
    expect(await said("looks", none)).toBe("false");
    expect(await said("needs", form)).toBe("ran");
    const { error } = await callTool(app, "needs", {}, none);
    expect(error).toMatchObject({
      code: -32021,
      message:
        'Tool "needs" needs a client that supports questions, and this one does not. Nothing has run.',
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    expect(ran).toEqual(["needs"]);
  });

  test("a secret is never asked for with a client's form", async () => {
    const { app } = made();
    app.tool("signs_in", {}, async (ctx) =>
      ctx.ask("password", "Your password?", undefined, { sensitive: true }),
    );
    app.tool("both", {}, async (ctx) =>
      ctx.ask("password", "Your password?", undefined, { sensitive: true, relay: true as never }),
    );
    const told = async (name: string) => (await callTool(app, name, {}, form)).error?.data;
    expect(await told("signs_in")).toEqual({ reason: "no_url" });
    expect(await told("both")).toEqual({ reason: "bad_option" });
  });

  test("a client that only opens pages is told that the app has no address for them", async () => {
    const { app } = made();
    app.tool("asks", {}, async (ctx) => ctx.ask("name", "Who?"));
    expect((await callTool(app, "asks", {}, page)).error?.message).toContain(
      'Question "name" of "asks" was not asked: this client supports pages only, and the app has no public address for them.',
    );
  });
});

describe("a wait that needs a task", () => {
  const Price = z.object({ cents: z.int() });
  const message =
    '"quote" cannot wait for "price": this client does not support tasks. Turn on parley({ relay: true }), or add requires: ["task"] to refuse such clients before anything runs.';

  function quoting() {
    const { app, ran } = made();
    app.tool("quote", { task: "optional" }, async (ctx) => {
      await ctx.step("ask", () => void ran.push("ask"));
      const { cents } = await ctx.waitFor("price", Price, {
        notify: () => void ran.push("notify"),
      });
      return `${cents}`;
    });
    app.tool("catching", { task: "optional" }, async (ctx) => {
      try {
        await ctx.waitFor("price", Price, { notify: () => void ran.push("notify") });
      } catch (error) {
        if (!(error instanceof UnansweredError)) throw error;
        await ctx.step("instead", () => void ran.push("instead"));
        return error.reason;
      }
      return "priced";
    });
    app.tool("strict", { task: "optional", requires: ["task", "form"] }, async (ctx) => {
      await ctx.step("ask", () => void ran.push("ask"));
      return "asked";
    });
    return { app, ran };
  }

  test("says what is missing and what to do, and does not call notify", async () => {
    const { app, ran } = quoting();
    const { error } = await callTool(app, "quote", {}, { capabilities: stays });
    expect(error).toMatchObject({ code: -32021, message });
    expect(ran).toEqual(["ask"]);
    expect(textIn(await callTool(app, "catching", {}, { capabilities: stays }))).toBe(
      "unsupported",
    );
    expect(ran).toEqual(["ask", "instead"]);
  });

  test("is refused before anything runs if the tool requires it", async () => {
    const { app, ran } = quoting();
    const { status, error } = await callTool(app, "strict", {}, none);
    expect([status, error]).toEqual([
      400,
      {
        code: -32021,
        message:
          'Tool "strict" needs a client that supports tasks and forms, and this one does not. Nothing has run.',
        data: {
          requiredCapabilities: {
            elicitation: { form: {} },
            extensions: { "io.modelcontextprotocol/tasks": {} },
          },
        },
      },
    ]);
    expect((await callTool(app, "strict", {}, { capabilities: stays })).error?.message).toBe(
      'Tool "strict" needs a client that supports tasks, and this one does not. Nothing has run.',
    );
    expect(ran).toEqual([]);
    expect(textIn(await callTool(app, "strict", {}, { capabilities: follows }))).toBe("asked");
  });

  test("learns of forms and pages that it lacks together", async () => {
    const { app } = made();
    app.tool("both", { requires: ["form", "url"] }, () => "ran");
    const { error } = await callTool(app, "both", {}, none);
    expect(error?.data).toEqual({ requiredCapabilities: { elicitation: { form: {}, url: {} } } });
  });

  test("is refused in 2025-11-25 as a result that says so", async () => {
    const { app, ran } = quoting();
    const { url } = await app.listen(0);
    const client = await connectV2({ url }, new People(), legacy);
    const told = await client.tool("strict");
    expect(told).toMatchObject({ isError: true, text: expect.stringContaining("supports tasks") });
    expect(ran).toEqual([]);
    await client.close();
  });

  test("is refused in a played call", async () => {
    const { app } = made();
    const strict = app.tool("strict", { requires: ["sampling"] }, () => "ran");
    await expect(play(strict, {}, {}, { as: "no-sampling" })).rejects.toThrow("Nothing has run.");
    expect((await play(strict, {})).text).toBe("ran");
  });

  test("an unknown capability is refused at registration", () => {
    const { app } = made();
    expect(() => app.tool("odd", { requires: ["forms" as "form"] }, () => "")).toThrow(
      'Tool "odd" requires "forms", which is not known. Use form, url, sampling, roots, task, ask, stream, or the id of an extension, such as io.example/ext.',
    );
  });
});
