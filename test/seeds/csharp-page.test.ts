// 004, the C# SDK's page, point by point.

import {
  Client as ClientV2,
  InMemoryTransport,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as InMemoryV1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer as McpServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  createMcpHandler,
  inputRequired as official,
  inputResponse,
  McpServer,
} from "@modelcontextprotocol/server";
import { inputRequired } from "mcp-parley";
import type { App } from "mcp-parley";
import { crashTest, play } from "mcp-parley/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { answerQuestion, confirmAction } from "../../examples/seeds/confirm-action.ts";
import { deferred, deferredByHand } from "../../examples/seeds/deferred.ts";
import { provisionVm } from "../../examples/seeds/provision-vm.ts";
import { weatherInUnits } from "../../examples/seeds/weather.ts";
import { wizard, wizardByHand } from "../../examples/seeds/wizard.ts";
import { connectV1, connectV2, modern } from "../interop/clients.ts";
import { People } from "../interop/people.ts";
import { accept, callTool, textIn, tokenIn } from "../wire/post.ts";
import { ask, call, stays, taskIdIn, textOf, until } from "../wire/task-calls.ts";
import { connected, serving, servingWith } from "./serving.ts";
import type { Register } from "./serving.ts";

const action = { action: "delete all files" };
const fiveMinuteVm: Register = (app) => provisionVm(app);

/** A person who accepts everything, and fills in the fields that a value was given for. */
class Agreeable extends People {
  readonly #content: Record<string, string | number>;
  constructor(content: Record<string, string | number> = {}) {
    super();
    this.#content = content;
  }
  override form(message: string) {
    this.shown.push({ kind: "form", message });
    return { action: "accept" as const, content: this.#content };
  }
}

describe("the high-level form", () => {
  test("awaits its question, and the rounds may go to servers that share only the key", async () => {
    const [one, other] = [await serving(confirmAction), await serving(confirmAction)];
    const asked = await callTool(one, "confirm_action", action);
    const done = await callTool(other, "confirm_action", action, {
      requestState: tokenIn(asked),
      inputResponses: { confirm: accept({ confirm: true }) },
    });
    expect(textIn(done)).toBe("Action confirmed!");
  });

  test.each([
    ["accept", "Action confirmed!"],
    ["decline", "Action cancelled."],
    ["cancel", "Action cancelled."],
  ] as const)("distinguishes what the person did: %s", async (given, text) => {
    const connection = await connected(await serving(confirmAction), {
      elicit: () => (given === "accept" ? { action: given, content: {} } : { action: given }),
    });
    // For the caller it is one call.
    expect((await connection.call("confirm_action", action)).text).toBe(text);
  });

  test("asks several questions of several kinds at once if they are awaited together", async () => {
    const app = await serving((to) =>
      to.tool("all", {}, async (ctx) => {
        const [name, motto, roots] = await Promise.all([
          ctx.ask("name", "Name?"),
          ctx.sample("motto", "A motto"),
          ctx.roots(),
        ]);
        return `${name}, ${motto.text}, ${roots.length}`;
      }),
    );
    const asked = await callTool(app, "all");
    expect(Object.keys(asked.result?.["inputRequests"] as object)).toEqual([
      "name",
      "motto",
      "roots",
    ]);
  });
});

describe("the low-level form", () => {
  test("returns its questions and its own state, and reads both in the next round", async () => {
    const app = await serving(answerQuestion);
    const args = { question: "why?" };
    const asked = await callTool(app, "answer_question", args);
    expect(asked.result).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        user_answer: {
          method: "elicitation/create",
          params: {
            message: "Please answer: why?",
            requestedSchema: { properties: { answer: { description: "Your answer" } } },
          },
        },
      },
    });
    const done = await callTool(app, "answer_question", args, {
      requestState: tokenIn(asked),
      inputResponses: { user_answer: accept({ answer: "because" }) },
    });
    expect(textIn(done)).toBe("You answered: because");
  });

  test("reads each kind of answer with the accessors of the SDK", async () => {
    const app = await serving((to) =>
      to.tool("kinds", {}, (ctx) => {
        const kinds = ["form", "sample", "roots"].map((key) => inputResponse(ctx.answers, key));
        if (kinds.every(({ kind }) => kind !== "missing")) {
          return kinds.map(({ kind }) => kind).join(" ");
        }
        return inputRequired({
          inputRequests: {
            form: inputRequired.elicit({ message: "Form?", requestedSchema: z.string() }),
            sample: inputRequired.createMessage({ messages: [], maxTokens: 5 }),
            roots: inputRequired.listRoots(),
          },
        });
      }),
    );
    const asked = await callTool(app, "kinds");
    const done = await callTool(
      app,
      "kinds",
      {},
      {
        requestState: tokenIn(asked),
        inputResponses: {
          form: accept({ requestedSchema: "x" }),
          sample: { role: "assistant", content: { type: "text", text: "hi" }, model: "m" },
          roots: { roots: [{ uri: "file:///a" }] },
        },
      },
    );
    expect(textIn(done)).toBe("elicit sampling roots");
  });

  test("has answers only to what it asked, each once", async () => {
    const seen: unknown[] = [];
    const app = await serving((to) =>
      to.tool("looks", {}, (ctx) => {
        seen.push(Object.keys(ctx.answers));
        const { one, other } = ctx.answers;
        if (one !== undefined && other !== undefined) return JSON.stringify(ctx.answers);
        const key = one === undefined ? "one" : "other";
        const question = inputRequired.elicit({ message: key, requestedSchema: z.string() });
        return inputRequired({ inputRequests: { [key]: question }, state: key });
      }),
    );
    const say = (value: string) => accept({ requestedSchema: value });
    // Answers that come before anything was asked.
    const all = { one: say("early"), other: say("early"), more: say("early") };
    const first = await callTool(app, "looks", {}, { inputResponses: all });
    // More answers than were asked for.
    const second = await callTool(
      app,
      "looks",
      {},
      { requestState: tokenIn(first), inputResponses: { ...all, one: say("Ada") } },
    );
    // Answers to questions that are already answered.
    const third = await callTool(
      app,
      "looks",
      {},
      { requestState: tokenIn(second), inputResponses: { ...all, other: say("36") } },
    );
    expect(JSON.parse(textIn(third))).toEqual({ one: say("Ada"), other: say("36") });
    expect(seen).toEqual([[], ["one"], ["one", "other"]]);
  });

  test("seals its state, so that a client can neither read nor forge it", async () => {
    const app = await serving(answerQuestion);
    const args = { question: "why?" };
    const asked = await callTool(app, "answer_question", args);
    const [, , block = ""] = tokenIn(asked).split(".");
    expect(Buffer.from(block, "base64url").toString("latin1")).not.toContain("awaiting-answer");
    const forged = await callTool(app, "answer_question", args, {
      requestState: "awaiting-answer",
      inputResponses: { user_answer: accept({ answer: "because" }) },
    });
    expect(forged.error).toMatchObject({ code: -32602 });
  });
});

describe("a round with state alone", () => {
  test.each([
    ["deferred", deferred],
    ["deferred_by_hand", deferredByHand],
  ])("%s asks nothing, and continues from its token on another instance", async (name, tool) => {
    const [one, other] = [await serving(tool), await serving(tool)];
    const put = await callTool(one, name);
    expect(put.result).toMatchObject({ resultType: "input_required" });
    expect(put.result).not.toHaveProperty("inputRequests");
    const done = await callTool(other, name, {}, { requestState: tokenIn(put) });
    expect(textIn(done)).toBe("Completed step 1");
  });

  test("is sent again automatically by our client and by the official one", async () => {
    const app = await serving(deferredByHand);
    const ours = await connected(app);
    expect((await ours.call("deferred_by_hand")).text).toBe("Completed step 1");
    const { url } = await app.listen(0);
    const theirs = await connectV2({ url }, new People(), modern);
    onTestFinished(() => theirs.close());
    expect((await theirs.tool("deferred_by_hand")).text).toBe("Completed step 1");
  });
});

describe("the wizard", () => {
  /** The page's code, on the official SDK, which has the same parts: state as text, and the answers of the last round. */
  function asPrinted() {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "page", version: "1.0.0" });
      const Name = z.object({ name: z.string() });
      const Age = z.object({ age: z.number() });
      server.registerTool("wizard", { description: "Asks for a name, then for an age" }, (ctx) => {
        const { inputResponses } = ctx.mcpReq;
        const state = ctx.mcpReq.requestState();
        const answer = (key: string) => {
          const given = inputResponse(inputResponses, key);
          return given.kind === "elicit"
            ? String(Object.values(given.content ?? {})[0])
            : "undefined";
        };
        if (state === "step-2" && inputResponses !== undefined) {
          const text = `Welcome, ${answer("name")}! You are ${answer("age")} years old.`;
          return { content: [{ type: "text", text }] };
        }
        if (state === "step-1" && inputResponses !== undefined) {
          const message = `Hi ${answer("name")}! How old are you?`;
          return official({
            inputRequests: { age: official.elicit({ message, requestedSchema: Age }) },
            requestState: "step-2",
          });
        }
        const message = "What's your name?";
        return official({
          inputRequests: { name: official.elicit({ message, requestedSchema: Name }) },
          requestState: "step-1",
        });
      });
      return server;
    });
    onTestFinished(() => handler.close());
    return handler;
  }

  const answers: Record<string, string | number> = { name: "Ada", age: 36 };
  const elicit = ({ key }: { key: string }) =>
    ({ action: "accept", content: { [key]: answers[key] ?? "" } }) as const;

  test("the printed wizard loses the name, because a client sends only the answers of the last round", async () => {
    const connection = await connected(asPrinted(), { elicit });
    expect((await connection.call("wizard")).text).toBe(
      "Welcome, undefined! You are 36 years old.",
    );
  });

  test.each([
    ["wizard", wizard],
    ["wizard_by_hand", wizardByHand],
  ])("%s keeps the name", async (name, tool) => {
    const connection = await connected(await serving(tool), { elicit });
    expect((await connection.call(name)).text).toBe("Welcome, Ada! You are 36 years old.");
  });

  test("the wizard keeps the name even if the last request has only the age", async () => {
    const app = await serving(wizardByHand);
    const first = await callTool(app, "wizard_by_hand");
    const second = await callTool(
      app,
      "wizard_by_hand",
      {},
      {
        requestState: tokenIn(first),
        inputResponses: { name: accept({ name: "Ada" }) },
      },
    );
    const third = await callTool(
      app,
      "wizard_by_hand",
      {},
      {
        requestState: tokenIn(second),
        inputResponses: { age: accept({ age: 36 }) },
      },
    );
    expect(textIn(third)).toBe("Welcome, Ada! You are 36 years old.");
  });
});

describe("whether a client can be asked", () => {
  const able = (app: App) => app.tool("able", {}, (ctx) => String(ctx.can("form")));

  test("is what ctx.can says, from the client's declaration, in either era", async () => {
    const app = await serving(able);
    expect(textIn(await callTool(app, "able"))).toBe("true");
    expect(textIn(await callTool(app, "able", {}, { capabilities: {} }))).toBe("false");
    for (const era of ["2026-07-28", "2025-11-25"] as const) {
      const asked = await connected(app, { era, elicit: () => ({ action: "cancel" }) });
      expect((await asked.call("able")).text).toBe("true");
      const mute = await connected(app, { era });
      expect((await mute.call("able")).text).toBe("false");
    }
  });

  test("decides whether the handler gives its own message, with advice", async () => {
    const mute = await connected(await serving(answerQuestion));
    const { text, isError } = await mute.call("answer_question", { question: "why?" });
    expect(text).toMatch(/your client cannot be asked/);
    expect(isError).toBeUndefined();
  });
});

describe("the four combinations", () => {
  /** The page's confirmation, on an SDK that does not support rounds. */
  function oldServer(): McpServerV1 {
    const server = new McpServerV1({ name: "old", version: "1.0.0" });
    server.registerTool("confirm_action", { inputSchema: { action: z.string() } }, async (args) => {
      const outcome = await server.server.elicitInput({
        message: `Do you want to proceed with: ${args.action}?`,
        requestedSchema: { type: "object", properties: { confirm: { type: "boolean" } } },
      });
      const text = outcome.action === "accept" ? "Action confirmed!" : "Action cancelled.";
      return { content: [{ type: "text", text }] };
    });
    onTestFinished(() => server.close());
    return server;
  }

  test("a new server and a new client use rounds", async () => {
    const { url } = await (await serving(confirmAction)).listen(0);
    const people = new Agreeable();
    const client = await connectV2({ url }, people, modern);
    onTestFinished(() => client.close());
    expect((await client.tool("confirm_action", action)).text).toBe("Action confirmed!");
    expect(people.shown).toHaveLength(1);
  });

  test("a new server asks an old client by a request, and nothing in the tool changes", async () => {
    const { url } = await (await serving(confirmAction)).listen(0);
    const people = new Agreeable();
    const client = await connectV1({ url }, people);
    onTestFinished(() => client.close());
    expect((await client.tool("confirm_action", action)).text).toBe("Action confirmed!");
    expect(people.shown).toHaveLength(1);
  });

  test("an old server and a new client speak the negotiated version, without rounds", async () => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await oldServer().connect(theirs);
    const connection = await connected(ours, { elicit: () => ({ action: "accept", content: {} }) });
    expect(connection.era).toBe("2025-11-25");
    expect((await connection.call("confirm_action", action)).text).toBe("Action confirmed!");
  });

  test("an old server and an old client are not affected", async () => {
    const [ours, theirs] = InMemoryV1.createLinkedPair();
    await oldServer().connect(theirs);
    const client = new ClientV1(
      { name: "old", version: "1.0.0" },
      { capabilities: { elicitation: {} } },
    );
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
    await client.connect(ours);
    onTestFinished(() => client.close());
    expect(await client.callTool({ name: "confirm_action", arguments: action })).toMatchObject({
      content: [{ text: "Action confirmed!" }],
    });
  });
});

describe("one handler in the low-level form", () => {
  test("serves a client with rounds, and a client without rounds, which never sees a result that asks", async () => {
    const { url } = await (await serving(weatherInUnits)).listen(0);
    const people = () => new Agreeable({ units: "Celsius" });
    const incoming: string[] = [];
    const watched: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const decoder = new TextDecoder();
      const noting = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          incoming.push(decoder.decode(chunk, { stream: true }));
          controller.enqueue(chunk);
        },
      });
      return new Response(response.body?.pipeThrough(noting) ?? null, response);
    };
    const withRounds = await connectV2({ url }, people(), modern);
    onTestFinished(() => withRounds.close());
    const without = await connectV1({ url, fetch: watched }, people());
    onTestFinished(() => without.close());
    for (const client of [withRounds, without]) {
      expect((await client.tool("get_weather", { location: "Oslo" })).text).toBe(
        "Weather for Oslo in Celsius: 72°",
      );
    }
    expect(incoming.join("")).toContain("elicitation/create");
    expect(incoming.join("")).not.toContain("input_required");
  });
});

describe("the limit of rounds", () => {
  const again = (app: App) =>
    app.tool("again", {}, (ctx) => {
      const round = ctx.state(z.int()) ?? 0;
      if (round === 9) return "enough";
      const question = inputRequired.elicit({ message: "Again?", requestedSchema: z.string() });
      return inputRequired({ inputRequests: { [`q${round}`]: question }, state: round + 1 });
    });
  const forever = (app: App) =>
    app.tool("forever", {}, (ctx) => {
      const round = ctx.state(z.int()) ?? 0;
      const question = inputRequired.elicit({ message: "Again?", requestedSchema: z.string() });
      return inputRequired({ inputRequests: { [`q${round}`]: question }, state: round + 1 });
    });
  const elicit = () => ({ action: "accept", content: { requestedSchema: "yes" } }) as const;

  test("is ten for a client that is asked again and again, and can be raised", async () => {
    const app = await serving(forever);
    const patient = await connected(app, { elicit });
    await expect(patient.call("forever")).rejects.toMatchObject({
      code: "too_many_rounds",
      message: expect.stringContaining("after 10 rounds of questions"),
    });
    const fewer = await connected(app, { elicit, limits: { rounds: 3 } });
    await expect(fewer.call("forever")).rejects.toThrow("after 3 rounds of questions");
    const enough = await connected(await serving(again), { elicit });
    expect((await enough.call("again")).text).toBe("enough");
  });

  test("is the server's for a client that is asked by requests, and the call ends with a message", async () => {
    let asked = 0;
    const { app } = await servingWith({ limits: { rounds: 12 } }, forever);
    const old = await connected(app, {
      era: "2025-11-25",
      elicit: () => {
        asked += 1;
        return elicit();
      },
    });
    await expect(old.call("forever")).rejects.toThrow(
      '"forever" has taken 12 rounds, which is the limit, and asks again.',
    );
    expect(asked).toBe(11);
  });

  test("is the server's own as well, because a token is valid for a limited number", async () => {
    const { app } = await servingWith({ limits: { rounds: 2 } }, forever);
    const connection = await connected(app, { elicit });
    await expect(connection.call("forever")).rejects.toMatchObject({ code: "refused" });
  });
});

describe("a task that is created at run time", () => {
  const vm = { vmName: "web" };
  const costs = { inputResponses: { costs: accept() } };

  test("is created after the question, when the handler decides, and completes", async () => {
    const app = await serving((to) => provisionVm(to, { takesMs: 1 }));
    const asked = await call(app, "provision-vm", vm);
    expect(asked.result).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        costs: { params: { message: "Provision VM 'web'? This will incur costs." } },
      },
    });
    const made = await call(app, "provision-vm", vm, { requestState: tokenIn(asked), ...costs });
    expect(made.result).toMatchObject({ resultType: "task", status: "working" });
    const done = await until(app, taskIdIn(made), "completed");
    expect(textOf(done)).toBe("VM 'web' provisioned successfully.");
  });

  test("works as long as necessary: a sleep of five minutes is kept in the store", async () => {
    const app = await serving(fiveMinuteVm);
    const asked = await call(app, "provision-vm", vm);
    const made = await call(app, "provision-vm", vm, { requestState: tokenIn(asked), ...costs });
    const status = await ask(app, "tasks/get", taskIdIn(made));
    expect(status.result).toMatchObject({ status: "working" });
  });

  test("is not created if the handler returns first, and the result is an ordinary one", async () => {
    const app = await serving(fiveMinuteVm);
    const asked = await call(app, "provision-vm", vm);
    const done = await call(app, "provision-vm", vm, {
      requestState: tokenIn(asked),
      inputResponses: { costs: { action: "decline" } },
    });
    expect(done.result).toMatchObject({ resultType: "complete" });
    expect(textIn(done)).toBe("Cancelled by user.");
  });

  /** The page's tool without its wait of five minutes. */
  const quickVm = (app: App) =>
    app.tool("quick_vm", { task: "optional" }, async (ctx) => {
      if (!(await ctx.confirm("costs", "Sure?"))) return "Cancelled by user.";
      await ctx.background();
      return `in ${await ctx.ask("zone", "In which zone?")}`;
    });

  test("is one-way: later questions are asked by the task, never again by a round", async () => {
    const app = await serving(quickVm);
    const asked = await call(app, "quick_vm");
    const leg = { requestState: tokenIn(asked), ...costs };
    const task = taskIdIn(await call(app, "quick_vm", {}, leg));
    expect(await until(app, task, "input_required")).toMatchObject({
      inputRequests: { zone: { method: "elicitation/create" } },
    });
    // If the round that created the task is sent again, its response is the same task.
    expect(taskIdIn(await call(app, "quick_vm", {}, leg))).toBe(task);
    const inputResponses = { zone: accept({ zone: "north" }) };
    await ask(app, "tasks/update", task, { inputResponses });
    expect(textOf(await until(app, task, "completed"))).toBe("in north");
  });

  test("is never created for a client that does not support tasks, and the same handler continues in rounds", async () => {
    const app = await serving(quickVm);
    const asked = await callTool(app, "quick_vm", {}, { capabilities: stays });
    const zone = await callTool(
      app,
      "quick_vm",
      {},
      {
        capabilities: stays,
        requestState: tokenIn(asked),
        ...costs,
      },
    );
    expect(zone.result).toMatchObject({ resultType: "input_required" });
    const done = await callTool(
      app,
      "quick_vm",
      {},
      {
        capabilities: stays,
        requestState: tokenIn(zone),
        inputResponses: { zone: accept({ zone: "north" }) },
      },
    );
    expect(textIn(done)).toBe("in north");
  });

  test("survives lost messages", async () => {
    const { app } = await servingWith({});
    const tool = provisionVm(app);
    await expect(crashTest(tool, vm, { costs: true }, { as: "task" })).resolves.toMatchObject({
      repeats: [],
    });
    expect((await play(tool, vm, { costs: true }, { as: "task" })).text).toBe(
      "VM 'web' provisioned successfully.",
    );
  });
});

test("an answer is accepted, declined or cancelled, and there is no `confirm`", async () => {
  const app = await serving(fiveMinuteVm);
  const asked = await call(app, "provision-vm", { vmName: "web" });
  const again = await call(
    app,
    "provision-vm",
    { vmName: "web" },
    {
      requestState: tokenIn(asked),
      inputResponses: { costs: { action: "confirm" } },
    },
  );
  expect(again.result).toMatchObject({
    resultType: "input_required",
    inputRequests: { costs: expect.anything() },
  });
});

test("a client that does not negotiate a newer version keeps its own", async () => {
  const app = await serving(confirmAction);
  const { url } = await app.listen(0);
  const client = new ClientV2({ name: "plain", version: "1.0.0" }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  expect(client.getNegotiatedProtocolVersion()).toBe("2025-11-25");
});
