// Which handlers are served here. Not those with checks of the SDK's on the way to them (scopes, `Mcp-Param-*`), and
// not what the author has taken over on the official server.

import { UriTemplate } from "@modelcontextprotocol/server";
import type { Definition } from "../define/definition.ts";
import type { RegisteredResource, Registration } from "../define/registry.ts";
import type { Schema } from "../forms/schema.ts";
import { passThrough } from "../sdk/pass-through.ts";
import type { Message, TaskMethod } from "./message.ts";
import type { TakenOver } from "./overrides.ts";

interface Handler {
  readonly definition: Definition;
  /** Without a schema it has no arguments, whatever was sent. */
  readonly hasArguments: boolean;
  /** Of a resource: for how long, and by whom, it may be kept. */
  readonly cacheHint?: unknown;
}

export interface RoundRoute {
  readonly kind: "round";
  readonly handler: Handler;
  /** What the round is known by. */
  readonly target: string;
}

export interface TaskRoute {
  readonly kind: "task";
  readonly method: TaskMethod;
}

export class Routes {
  readonly #tools = new Map<string, Handler>();
  readonly #prompts = new Map<string, Handler>();
  /** One that is not served here is undefined: it still comes before others. */
  readonly #resources = new Map<string, Handler | undefined>();
  readonly #templates: { readonly template: UriTemplate; readonly handler: Handler | undefined }[] =
    [];
  readonly #hasTasks: boolean;
  readonly #taken: TakenOver;

  constructor(registrations: Iterable<Registration>, hasTasks: boolean, taken: TakenOver) {
    this.#hasTasks = hasTasks;
    this.#taken = taken;
    for (const registration of registrations) this.#add(registration);
  }

  find(message: Message): RoundRoute | TaskRoute | undefined {
    const { method, params } = message;
    const { everything, methods } = this.#taken;
    if (everything || methods.has(method)) return undefined;
    switch (method) {
      case "tools/call":
        return roundOf(this.#tools.get(params.name ?? ""), params.name);
      case "prompts/get":
        return roundOf(this.#prompts.get(params.name ?? ""), params.name);
      case "resources/read":
        return this.#resource(params.uri);
      case "tasks/get":
      case "tasks/update":
      case "tasks/cancel":
        return this.#hasTasks ? { kind: "task", method } : undefined;
    }
  }

  /** As the SDK finds it: by the normalised URI, a fixed one before a template, templates in their order. */
  #resource(uri = ""): RoundRoute | undefined {
    if (!URL.canParse(uri)) return undefined;
    const { href } = new URL(uri);
    const handler = this.#resources.has(href)
      ? this.#resources.get(href)
      : this.#templates.find(({ template }) => template.match(href) !== null)?.handler;
    return roundOf(handler, href);
  }

  #add(registration: Registration): void {
    const { kind, name, definition } = registration;
    if (kind === "resource") return this.#addResource(registration);
    if (registration.config.scopeChallenge !== undefined) return undefined;
    if (registration.kind === "prompt") {
      const hasArguments = registration.config.argsSchema !== undefined;
      return void this.#prompts.set(name, { definition, hasArguments });
    }
    const { inputSchema } = registration.config;
    if (inputSchema !== undefined && hasHeaderArguments(inputSchema)) return undefined;
    return void this.#tools.set(name, { definition, hasArguments: inputSchema !== undefined });
  }

  #addResource({ uri, isTemplate, definition, config }: RegisteredResource): void {
    const { scopeChallenge } = config;
    const cacheHint = "cacheHint" in config ? config.cacheHint : undefined;
    const handler =
      scopeChallenge === undefined ? { definition, hasArguments: false, cacheHint } : undefined;
    if (!isTemplate) this.#resources.set(uri, handler);
    else if (!this.#taken.resources) {
      this.#templates.push({ template: new UriTemplate(uri), handler });
    }
  }
}

const roundOf = (handler: Handler | undefined, target = ""): RoundRoute | undefined =>
  handler && { kind: "round", handler, target };

/** Whether some of its arguments must be in headers, too. */
function hasHeaderArguments(schema: Schema): boolean {
  try {
    const json = passThrough(schema)["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    return JSON.stringify(json).includes('"x-mcp-header"');
  } catch {
    return true;
  }
}
