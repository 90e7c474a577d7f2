// `app.attach(server, { adopt })`: tools of a plain official server that await the SDK's own questions become calls of
// the app. A 2026-07-28 client is asked in rounds, and the tool's callback runs again in each of them with the recorded
// answers. In a 2025-11-25 session the SDK asks by itself, so the callback runs as before.

import { AsyncLocalStorage } from "node:async_hooks";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  McpServer,
  RegisteredTool,
  ServerContext,
  ToolCallback,
} from "@modelcontextprotocol/server";
import { isObject } from "../../util/objects.ts";
import type { HandlerContext } from "../context/handler-context.ts";
import { isInputRequired } from "../context/low-level.ts";
import type { Core } from "../core.ts";
import { badResult } from "../define/checked-result.ts";
import type { Definition, WireResult } from "../define/definition.ts";
import { hintAtAdoption } from "../dev/author-hints.ts";
import type { Schema } from "../forms/schema.ts";
import { AdoptedCall, leadQuestions } from "./adopted-call.ts";
import type { Respond } from "./install.ts";
import { isMatch } from "../define/name-pattern.ts";
import { passThrough } from "./pass-through.ts";
import { isModernRequest } from "./round-request.ts";

/** What `app.attach` does with the server's own tools. */
export interface AttachOptions {
  /**
   * The server's own tools, by name (`*` stands for any text), whose questions to the SDK reach 2026-07-28 clients in
   * rounds. Such a tool runs again from its beginning in each round, with the answers so far. Default: none.
   */
  readonly adopt?: readonly string[] | undefined;
  /** Runs each round of the adopted tools once, as in a tool's config. Needs a store. Default: false. */
  readonly once?: boolean | undefined;
}

/** Adopts tools of servers for one app. */
export class Adoption {
  readonly #core: Core;
  /** One for each tool and not for each server, because hosts make a server for each request. */
  readonly #definitions = new Map<string, Definition>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** The definitions of the named tools. Throws TypeError if the server lacks one. `own`: the names of the app's own tools. */
  of(server: McpServer, options: AttachOptions, own: ReadonlySet<string>): readonly Definition[] {
    const { adopt = [], once = false } = options;
    // For JavaScript authors, who may expect that `true` adopts everything.
    if (!Array.isArray(adopt)) {
      throw new TypeError(
        'app.attach(server, { adopt }): adopt is a list of names, such as ["book"]. An adopted tool runs again in each round, so name each tool that may.',
      );
    }
    if (adopt.length === 0) return [];
    const names = [...toolsOf(server).keys()].filter((name) => !own.has(name));
    const missing = adopt.filter((pattern) => !names.some((name) => isMatch(pattern, name)));
    if (missing.length > 0) {
      throw new TypeError(
        `app.attach(server, { adopt: [${missing.map((name) => JSON.stringify(name)).join(", ")}] }): the server has no such tool. Register its tools before app.attach.`,
      );
    }
    return names
      .filter((name) => adopt.some((pattern) => isMatch(pattern, name)))
      .map((name) => this.#definition(name, once));
  }

  /** The names of the server's own tools that are not adopted. */
  others(server: McpServer, own: ReadonlySet<string>): readonly string[] {
    const tools = [...toolsOf(server)].filter(([name]) => !own.has(name));
    return tools.flatMap(([name, tool]) => (adoptedTools.has(tool) ? [] : [name]));
  }

  #definition(name: string, once: boolean): Definition {
    const key = `${once ? "once" : "often"} ${name}`;
    const definition = this.#definitions.get(key) ?? adopted(this.#core, name, once);
    this.#definitions.set(key, definition);
    return definition;
  }
}

/** Lets `respond` serve a tool of the server. */
export function adoptTool(
  server: McpServer,
  { name }: Definition,
  respond: Respond,
  isGated: () => boolean,
): void {
  const tool = toolsOf(server).get(name);
  if (tool === undefined || adoptedTools.has(tool)) return;
  adoptedTools.add(tool);
  leadQuestions(server);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its parameters are those of the SDK
  const callback = tool.handler as Callback;
  const { inputSchema } = tool;
  if (inputSchema === undefined) {
    const call: Callback = (_input, ctx) => callback(ctx);
    const without = (context: ServerContext) =>
      isModernRequest(context) || isGated()
        ? requests.run({ call, context, input: undefined }, () =>
            respond<CallToolResult>(context, name, {}),
          )
        : callback(context);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK's type of `update` always has arguments
    return tool.update({ callback: without as unknown as ToolCallback<Schema> });
  }
  tool.update({
    paramsSchema: keepingBoth(inputSchema),
    callback: (received, context) => {
      const { sent, input } = bothIn(received);
      if (!isModernRequest(context) && !isGated()) return callback(input, context);
      return requests.run({ call: callback, context, input }, () =>
        respond<CallToolResult>(context, name, sent),
      );
    },
  });
}

const adoptedTools = new WeakSet<RegisteredTool>();

// oxlint-disable-next-line typescript/no-explicit-any -- what the author's callback takes
type Callback = (...args: any[]) => CallToolResult | Promise<CallToolResult>;

/** A request for an adopted tool. The definition serves many servers, so it finds here which of them is asked. */
interface AdoptedRequest {
  readonly call: Callback;
  readonly context: ServerContext;
  /** The arguments as the tool's schema returned them. */
  readonly input: unknown;
}

const requests = new AsyncLocalStorage<AdoptedRequest>();

function requestHere(): AdoptedRequest {
  const request = requests.getStore();
  if (request === undefined) throw new Error("an adopted tool runs only in a request for it");
  return request;
}

function adopted(core: Core, name: string, once: boolean): Definition {
  const definition: Definition = {
    method: "tools/call",
    name,
    once,
    isAdopted: true,
    // The SDK has checked them.
    parse: () => ({ ok: true, input: requestHere().input }),
    invoke: async (input, ctx) => {
      // A copy of a first request is another call, so nothing of the tool may run in it (R14). Without this step it would.
      if (once) await ctx.step("sdk-start", () => null);
      return invoke(input, ctx, () => hintAtAdoption(core, definition, ctx.callId));
    },
    toResult: (returned) => {
      if (isObject(returned)) return returned;
      throw badResult(`Tool "${name}" returned no result. Return { content: […] }.`);
    },
    toFailure: failure,
  };
  return definition;
}

async function invoke(
  input: unknown,
  ctx: HandlerContext,
  onQuestion: () => void,
): Promise<unknown> {
  const { call, context } = requestHere();
  const adoptedCall = new AdoptedCall(ctx, onQuestion);
  try {
    const returned: unknown = await adoptedCall.run(() =>
      call(input, adoptedCall.contextFrom(context)),
    );
    if (!isInputRequired(returned)) return returned;
  } catch (error) {
    // As in the SDK: a result says what went wrong, except for the one error that a client acts on.
    const isResult = error instanceof ProtocolError && error.code !== urlElicitationRequired;
    if (isResult) return failure(error.message);
    if (!isInputRequired(error)) throw error;
  }
  throw badResult(
    "An adopted tool returned or threw inputRequired(…). It drives its rounds itself and needs no help, so take it out of adopt.",
  );
}

const urlElicitationRequired: number = ProtocolErrorCode.UrlElicitationRequired;

const failure = (message: string): WireResult => ({
  content: [{ type: "text", text: message }],
  isError: true,
});

// ---------------------------------------------------------------- the server's tools

/** The SDK has no public way to its tools, so this reads a private member, which a test watches. */
function toolsOf(server: McpServer): ReadonlyMap<string, RegisteredTool> {
  const tools: unknown = Reflect.get(server, "_registeredTools");
  if (!isObject(tools)) {
    throw new TypeError(
      "app.attach(server, { adopt }): this server does not keep its tools as the official SDK 2.4 does, so they cannot be adopted. Pass an McpServer of @modelcontextprotocol/server.",
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the SDK's type of that member
  return new Map(Object.entries(tools as Record<string, RegisteredTool>));
}

// ---------------------------------------------------------------- arguments

/** The arguments as sent, which the state of the call is bound to, and as the schema returned them. */
class Both {
  readonly sent: unknown;
  readonly input: unknown;

  constructor(sent: unknown, input: unknown) {
    this.sent = sent;
    this.input = input;
  }
}

/** The same schema, whose value is both. */
function keepingBoth(schema: Schema): Schema {
  const { validate } = schema["~standard"];
  return {
    ...passThrough(schema),
    "~standard": {
      ...passThrough(schema)["~standard"],
      validate: async (sent) => {
        const result = await validate(sent);
        return result.issues === undefined ? { value: new Both(sent, result.value) } : result;
      },
    },
  };
}

const bothIn = (received: unknown): Both =>
  received instanceof Both ? received : new Both(received, received);
