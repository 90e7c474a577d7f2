// What is asked before a handler runs: `approve` in a tool's config, and gates over many tools.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { McpServer } from "@modelcontextprotocol/server";
import { inputRequired, memoryStore, parley } from "mcp-parley";
import type { App, Notice, ParleyOptions } from "mcp-parley";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { accept, callTool, envelope, exchange, textIn, tokenIn } from "./post.ts";
import type { Answer, To } from "./post.ts";

const opened: App[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

function make(options: Partial<ParleyOptions> = {}): App {
  const settings = { name: "desk", version: "1.0.0", keys, logger: quiet, ...options };
  const app = parley(settings as ParleyOptions);
  opened.push(app);
  return app;
}

const Repo = z.object({ name: z.string() });
/** Notes that a handler ran. */
function run(ran: string[]): string {
  ran.push("ran");
  return "ran";
}
const decline = { action: "decline" };

/** The keys and messages of the questions in a response. */
function questionsIn({ result }: Answer): Readonly<Record<string, string>> {
  const requests = (result?.["inputRequests"] ?? {}) as Record<
    string,
    { params: { message: string } }
  >;
  return Object.fromEntries(
    Object.entries(requests).map(([key, { params }]) => [key, params.message]),
  );
}

/** Calls a tool, and answers each round with the next of these. */
async function talk(to: readonly To[] | To, tool: string, args: object, ...answers: object[]) {
  const at = (round: number) => (Array.isArray(to) ? (to as readonly To[])[round]! : (to as To));
  const asked: Readonly<Record<string, string>>[] = [];
  let answer = await callTool(at(0), tool, args as Record<string, unknown>);
  for (const [index, inputResponses] of answers.entries()) {
    asked.push(questionsIn(answer));
    answer = await callTool(at(index + 1), tool, args as Record<string, unknown>, {
      requestState: tokenIn(answer),
      inputResponses,
    });
  }
  return { asked, answer };
}

describe("approve in a tool's config", () => {
  const withApprove = () => {
    const app = make();
    const ran: string[] = [];
    app.tool(
      "delete_repo",
      {
        inputSchema: Repo,
        approve: ({ name }, { tool }) =>
          name === "scratch" ? undefined : `${tool}: delete ${name}?`,
      },
      ({ name }) => {
        ran.push(name);
        return `deleted ${name}`;
      },
    );
    return { app, ran };
  };

  test("asks the caller before the handler runs, and only where it has a message", async () => {
    const { app, ran } = withApprove();
    const { asked, answer } = await talk(
      app,
      "delete_repo",
      { name: "site" },
      { "~approve": accept() },
    );
    expect(asked).toEqual([{ "~approve": "delete_repo: delete site?" }]);
    expect(textIn(answer)).toBe("deleted site");
    expect(textIn(await callTool(app, "delete_repo", { name: "scratch" }))).toBe("deleted scratch");
    expect(ran).toEqual(["site", "scratch"]);
  });

  test("a refusal ends the call, and the handler never runs", async () => {
    const { app, ran } = withApprove();
    for (const no of [decline, { action: "cancel" }]) {
      const { answer } = await talk(app, "delete_repo", { name: "site" }, { "~approve": no });
      expect(answer.result).toMatchObject({ isError: true });
    }
    expect(ran).toEqual([]);
  });

  test("a message that is no text lets no call pass", async () => {
    const app = make();
    const ran: string[] = [];
    app.tool("wipe", { approve: (async () => undefined) as never }, () => run(ran));
    app.tool("empty", { approve: () => "" }, () => run(ran));
    expect((await callTool(app, "wipe")).error).toMatchObject({ code: -32603 });
    expect((await callTool(app, "empty")).error).toMatchObject({ code: -32603 });
    expect(ran).toEqual([]);
  });

  test("a group needs a task, and a count needs a group", () => {
    const app = make();
    expect(() =>
      app.tool("delete_repo", { approve: { message: "Delete?", by: "admins" } as never }, () => ""),
    ).toThrow(
      'Tool "delete_repo" asks the group "admins" for approval and has no task in its config. Add task: "optional".',
    );
    const of = (count: number) => () =>
      app.tool("pay", { approve: { message: "Pay?", of: count } }, () => "");
    expect(of(2)).toThrow('Approval "~approve" has of: 2 but no group. Add by: "…".');
    expect(of(0)).toThrow('Approval "~approve" has of: 0. Use a whole number from 1.');
  });

  test("a caller's approval is recorded with its time, who gave it and the way it took", async () => {
    const app = make();
    const seen: unknown[] = [];
    app.tool("pay", {}, async (ctx) => {
      const { decisions } = await ctx.approve("pay", "Pay?", { about: { Amount: 5, Fast: true } });
      seen.push(JSON.stringify(decisions));
      await ctx.ask("name", "Name?");
      return "paid";
    });
    const { asked } = await talk(
      app,
      "pay",
      {},
      { pay: accept() },
      { name: accept({ name: "x" }) },
    );
    expect(asked[0]).toEqual({ pay: "Pay?\n\nAmount: 5\nFast: true" });
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(seen[1]);
    const [decision] = JSON.parse(String(seen[0])) as { at: string }[];
    expect(decision).toMatchObject({ who: "the caller", isApproved: true, via: "form" });
    expect(new Date(decision?.at ?? 0).getTime()).toBeGreaterThan(Date.now() - 600_000);
  });
});

describe("gates", () => {
  const asksFor = (name: string) => ({ tools: ["delete_*"], message: `${name}?` });

  test("come first, in their order, and each has to be passed", async () => {
    const app = make();
    app.gate("one", {
      ...asksFor("one"),
      message: ({ tool, args }) => `${tool} ${String(args["name"])}?`,
    });
    app.gate("two", asksFor("two"));
    app.gate("elsewhere", { tools: ["send_*"], message: "Send?" });
    app.tool("delete_repo", { inputSchema: Repo, approve: () => "own?" }, async ({ name }, ctx) => {
      const why = await ctx.step("why", () => "asked");
      await ctx.confirm("sure", "Sure?");
      return `${why} ${name}`;
    });
    const { asked, answer } = await talk(
      app,
      "delete_repo",
      { name: "site" },
      { "~gate/one": accept() },
      { "~gate/two": accept() },
      { "~approve": accept() },
      { sure: accept() },
    );
    expect(asked).toEqual([
      { "~gate/one": "delete_repo site?" },
      { "~gate/two": "two?" },
      { "~approve": "own?" },
      { sure: "Sure?" },
    ]);
    expect(textIn(answer)).toBe("asked site");
    const refused = await talk(
      app,
      "delete_repo",
      { name: "x" },
      { "~gate/one": accept() },
      { "~gate/two": decline },
    );
    expect(refused.answer.result).toMatchObject({ isError: true });
  });

  test("cover a call whose journal is still empty, and leave one alone that is under way", async () => {
    const tool = (app: App) =>
      app.tool("delete_repo", {}, async (ctx) => {
        await ctx.ask("name", "Which?");
        return "deleted";
      });
    const [before, after] = [make(), make()];
    tool(before);
    after.gate("deletions", asksFor("deletions"));
    tool(after);
    const under = await talk([before, after], "delete_repo", {}, { name: accept({ name: "x" }) });
    expect(textIn(under.answer)).toBe("deleted");
    // A call that has been asked about one gate is asked about the next one, too.
    const third = make();
    third.gate("deletions", asksFor("deletions"));
    third.gate("more", asksFor("more"));
    tool(third);
    const fresh = await talk(
      [after, third, third],
      "delete_repo",
      {},
      { "~gate/deletions": accept() },
      { "~gate/more": accept() },
    );
    expect(questionsIn(fresh.answer)).toEqual({ name: "Which?" });
  });

  test("that was passed stays passed, even if it is reworded or gone", async () => {
    const tool = (app: App) =>
      app.tool("delete_repo", {}, async (ctx) => {
        await ctx.step("effect", () => 1);
        await ctx.confirm("sure", "Sure?");
        return "deleted";
      });
    const [before, reworded, gone] = [make(), make(), make()];
    before.gate("deletions", asksFor("one"));
    reworded.gate("deletions", asksFor("another"));
    for (const app of [before, reworded, gone]) tool(app);
    for (const later of [reworded, gone]) {
      const { answer } = await talk(
        [before, before, later],
        "delete_repo",
        {},
        { "~gate/deletions": accept() },
        { sure: accept() },
      );
      expect(textIn(answer)).toBe("deleted");
    }
  });

  test("stand before a handler that drives its rounds itself", async () => {
    const app = make();
    app.gate("deletions", asksFor("deletions"));
    app.tool("delete_repo", {}, (ctx) => {
      if (ctx.answers["sure"] !== undefined) return "deleted";
      return inputRequired({
        inputRequests: {
          sure: inputRequired.elicit({
            message: "Sure?",
            requestedSchema: { type: "object", properties: {} },
          }),
        },
      });
    });
    const { asked, answer } = await talk(
      app,
      "delete_repo",
      {},
      { "~gate/deletions": accept() },
      { sure: accept() },
    );
    expect(asked).toEqual([{ "~gate/deletions": "deletions?" }, { sure: "Sure?" }]);
    expect(textIn(answer)).toBe("deleted");
  });

  test("say at start which tool cannot wait, and which gate covers nothing", async () => {
    const lines: string[] = [];
    const note = (line: string) => void lines.push(line);
    const logger = { debug: note, info: note, warn: note, error: note };
    const app = make({ store: memoryStore(), logger });
    app.gate("production", { tools: ["delete_*"], message: "Go?", by: "oncall" });
    app.gate("sends", { tools: ["send_*", "mail"], message: "Send?" });
    const ran: string[] = [];
    app.tool("delete_file", {}, () => run(ran));
    const problem =
      'Gate "production" asks the group "oncall", but tool "delete_file" cannot wait for it. Give the tool task: "optional", or leave the tool out of the gate.';
    await expect(app.listen(0)).rejects.toThrow(problem);
    await expect(app.work()).rejects.toThrow(problem);
    expect((await callTool(app, "delete_file")).error).toMatchObject({ code: -32603 });
    expect(ran).toEqual([]);
    const other = make({ logger });
    other.gate("sends", { tools: ["send_*", "mail"], message: "Send?" });
    await (await other.listen(0)).close();
    expect(lines).toContain('Gate "sends" covers no tool: no name matches "send_*" or "mail".');
  });

  test("refuse what is not a gate", () => {
    const app = make();
    app.gate("deletions", asksFor("deletions"));
    expect(() => app.gate("deletions", asksFor("again"))).toThrow(
      'app.gate("deletions") was called twice. Give each gate its own name.',
    );
    for (const wrong of [
      ["", asksFor("x")],
      [{ tools: [] }, undefined],
      ["a~b", asksFor("x")],
      ["x", { tools: "*" }],
    ]) {
      expect(() => app.gate(...(wrong as [never, never]))).toThrow(
        'app.gate takes a name and a rule: app.gate("deletions", { tools: ["delete_*"], message: … }).',
      );
    }
  });
});

describe("a gate that a group decides", () => {
  const auth: BearerAuthOptions = {
    verifier: {
      verifyAccessToken: async (token) => {
        const expiresAt = Date.now() / 1000 + 3_600;
        return { token, clientId: "app", scopes: [], expiresAt, extra: { sub: token } };
      },
    },
  };
  const principal = ({ extra }: AuthInfo) => extra?.["sub"] as string;
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  const sending = { capabilities, headers: { authorization: "Bearer ada" } };

  test("lets the task wait, then the tool's own group, then the handler", async () => {
    const notices: Notice[] = [];
    const app = make({ store: memoryStore(), auth, principal });
    const notify = (notice: Notice) => notices.push(notice);
    app.gate("production", {
      tools: ["*"],
      message: ({ tool }) => `${tool}?`,
      by: "oncall",
      notify,
    });
    const ran: string[] = [];
    app.tool(
      "deploy",
      {
        task: "optional",
        inputSchema: Repo,
        approve: {
          message: ({ name }) => `Deploy ${name}?`,
          by: "owners",
          notify: (notice, { name }) => notices.push(notice) && name,
        },
      },
      async ({ name }, ctx) => {
        await ctx.step("deploy", () => ran.push(name));
        return `deployed ${name}`;
      },
    );
    await app.work();
    const { result } = await callTool(app, "deploy", { name: "site" }, sending);
    const taskId = String(result?.["taskId"]);
    const turns = [
      ["~gate/production", "oncall"],
      ["~approve", "owners"],
    ] as const;
    for (const [index, [key, group]] of turns.entries()) {
      await expect.poll(() => notices.length, patience).toBe(index + 1);
      const { ticket } = notices[index]!;
      expect(app.readTicket(ticket)).toMatchObject({ kind: "approval", key });
      const other = { who: "bo", groups: ["other"], approve: true };
      expect(await app.decide(ticket, other)).toMatchObject({ status: "not_allowed" });
      expect(ran).toEqual([]);
      const by = { who: "bo", groups: [group], approve: true };
      expect(await app.decide(ticket, by)).toMatchObject({ status: "approved" });
    }
    const task = () => exchange(app, envelope("tasks/get", { taskId }, { capabilities }), sending);
    await expect.poll(async () => (await task()).result?.["status"], patience).toBe("completed");
    expect(JSON.stringify((await task()).result)).toContain("deployed site");
  });

  test("cannot cover a tool of an attached server, which is said when it is attached", () => {
    const app = make({ store: memoryStore(), auth, principal });
    app.gate("production", { tools: ["delete_*"], message: "Go?", by: "oncall" });
    const server = new McpServer({ name: "plain", version: "1.0.0" });
    server.registerTool("delete_file", {}, () => ({ content: [] }));
    expect(() => app.attach(server, { adopt: ["delete_file"] })).toThrow(
      'Gate "production" asks the group "oncall", but "delete_file" is a tool of an attached server, which cannot wait for it. Leave the tool out of the gate, or let the caller decide.',
    );
  });
});
