// Which handlers the fast entry serves. Handlers that need one of the SDK's checks (scopes, `Mcp-Param-*`) are left to
// the SDK, and so is everything that the author has replaced on the official server.

import { readStreamsMethod } from "../../../protocol/streaming.ts";
import type { Definition } from "../../define/definition.ts";
import { LinearTemplate, longestUri } from "../../define/linear-template.ts";
import type { RegisteredResource, Registration } from "../../define/registry.ts";
import type { Schema } from "../../forms/schema.ts";
import { passThrough } from "../../sdk/pass-through.ts";
import { parsedUrl } from "../../../util/parsed-url.ts";
import type { Message, TaskMethod } from "./fast-message.ts";
import type { Overrides } from "./author-overrides.ts";

interface RoutedHandler {
  readonly definition: Definition;
  /** A handler without a schema gets no arguments, even if some were sent. */
  readonly hasArguments: boolean;
  /** How long, and by whom, a resource may be cached. */
  readonly cacheHint?: unknown;
}

/** A request for a tool, a prompt or a resource. */
export interface RoundRoute {
  readonly kind: "round";
  readonly handler: RoutedHandler;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string;
  /** The resource's URI. */
  readonly url?: URL | undefined;
}

/** A request about a task. */
export interface TaskRoute {
  readonly kind: "task";
  readonly method: TaskMethod;
}

/** A request to read the streams of a task. */
export interface StreamsRoute {
  readonly kind: "streams";
}

/** Finds the handler for a message. */
export class RouteTable {
  readonly #tools = new Map<string, RoutedHandler>();
  readonly #prompts = new Map<string, RoutedHandler>();
  /** Undefined for a resource that the SDK serves: it still comes before any template. */
  readonly #resources = new Map<string, RoutedHandler | undefined>();
  readonly #templates: {
    readonly template: LinearTemplate;
    readonly handler: RoutedHandler | undefined;
  }[] = [];
  readonly #hasTasks: boolean;
  readonly #overrides: Overrides;

  constructor(registrations: Iterable<Registration>, hasTasks: boolean, overrides: Overrides) {
    this.#hasTasks = hasTasks;
    this.#overrides = overrides;
    for (const registration of registrations) this.#add(registration);
  }

  /** Undefined if the SDK has to serve the message. */
  find(message: Message): RoundRoute | TaskRoute | StreamsRoute | undefined {
    const { method, params } = message;
    const { everything, methods } = this.#overrides;
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
      case readStreamsMethod:
        return this.#hasTasks ? { kind: "streams" } : undefined;
    }
  }

  /** Looks up as the SDK does: by the normalised URI, a fixed one before a template, templates in their order. */
  #resource(uri = ""): RoundRoute | undefined {
    const url = uri.length > longestUri ? undefined : parsedUrl(uri);
    if (url === undefined) return undefined;
    const { href } = url;
    const handler = this.#resources.has(href)
      ? this.#resources.get(href)
      : this.#templates.find(({ template }) => template.match(href) !== null)?.handler;
    return roundOf(handler, href, url);
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
    else if (!this.#overrides.resources) {
      this.#templates.push({ template: new LinearTemplate(uri), handler });
    }
  }
}

const roundOf = (
  handler: RoutedHandler | undefined,
  target = "",
  url?: URL,
): RoundRoute | undefined => handler && { kind: "round", handler, target, url };

/** Whether some arguments must also be sent in headers. */
function hasHeaderArguments(schema: Schema): boolean {
  try {
    const json = passThrough(schema)["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    return JSON.stringify(json).includes('"x-mcp-header"');
  } catch {
    return true;
  }
}
