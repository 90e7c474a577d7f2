// The tools that continue paused calls, as an app registers them: `continue_call` for models, and `answer_call` with the
// resource of the App for hosts that render it.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import type { ScopeChallengeHandler } from "@modelcontextprotocol/server";
import { answerCall, appType, formUri } from "../../protocol/paused-call.ts";
import { isObject, own } from "../../util/objects.ts";
import type { Core } from "../core.ts";
import type { RegisteredTool, Registration, Registry } from "../define/registry.ts";
import { defineResource } from "../define/resource.ts";
import { ownTool } from "../round/own-tools.ts";
import { principalOf } from "../round/principal.ts";
import { continueCall, continues } from "./continuable.ts";
import type { Continuable } from "./continuable.ts";
import { failureOf, serveContinuation } from "./continue-call.ts";
import { findPause } from "./kept-pause.ts";

/** Adds `continue_call`, once. */
export function addContinueCall(app: Continuable): void {
  if (!continues(app.registry)) app.registry.add(continueCallTool(app));
}

/** Adds a tool of the author's, and with the first one that has an App what the App needs. */
export function addTool(app: Continuable, tool: RegisteredTool): void {
  const { config } = tool;
  if (config.ui !== "form") return app.registry.add(tool);
  app.registry.add({ ...tool, config: { ...config, _meta: formMeta(config._meta) } });
  addContinueCall(app);
  if (app.registry.tool(answerCall) !== undefined) return;
  app.registry.add(answerCallTool(app));
  app.registry.add(formResource(app.core));
}

type Meta = Record<string, unknown>;

/** The metadata of a tool whose calls show the App. */
function formMeta(meta: Meta = {}): Meta {
  const ui = isObject(meta["ui"]) ? meta["ui"] : {};
  return { ...meta, ui: { ...ui, resourceUri: formUri } };
}

const annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

const call = { type: "string", description: 'The "call" from the result.' } as const;
const rest = {
  answers: {
    type: "object",
    description: "What the user has answered, by the key of the question.",
  },
  decline: {
    type: "array",
    items: { type: "string" },
    description: "The keys of the questions that the user does not want to answer.",
  },
  cancel: { type: "boolean", description: "True if the user wants to stop the call." },
} as const;

function continueCallTool(app: Continuable): Registration {
  return {
    kind: "tool",
    name: continueCall,
    definition: definitionOf(app, continueCall, "relay"),
    config: {
      title: "Continue a call",
      description:
        'Continues a call that is not finished. Use it only when a result says so, with the "call" from that result.',
      inputSchema: fromJsonSchema({
        type: "object",
        properties: { call, ...rest },
        required: ["call"],
      }),
      annotations,
      scopeChallenge: scopesOfCall(app),
      // A question that comes up after a page has been answered is shown with the result of this tool. The author may
      // register the first tool that shows the App later.
      get _meta() {
        return app.registry.tool(answerCall) === undefined ? undefined : formMeta();
      },
    },
  };
}

function answerCallTool(app: Continuable): Registration {
  const secret = { type: "string", description: "What only the form has been told." } as const;
  return {
    kind: "tool",
    name: answerCall,
    definition: definitionOf(app, answerCall, "app"),
    config: {
      title: "Answer in a form",
      description:
        "Sends what the user has filled in. Only the form that is shown to the user can call this.",
      inputSchema: fromJsonSchema({
        type: "object",
        properties: { call, secret, ...rest },
        required: ["call", "secret"],
      }),
      annotations,
      scopeChallenge: scopesOfCall(app),
      _meta: { ui: { visibility: ["app"] } },
    },
  };
}

function definitionOf({ registry }: Continuable, name: string, way: "relay" | "app") {
  return ownTool(
    {
      method: "tools/call",
      name,
      parse: (_target, input) => ({ ok: true, input }),
      invoke: () => undefined,
      toResult: () => ({}),
      toFailure: failureOf,
    },
    (serving, request) =>
      serveContinuation(serving, (tool) => registry.tool(tool)?.definition, request, way),
  );
}

/** The scopes of the tool that was called, because its call is continued. */
function scopesOfCall({ core, registry, derivePrincipal }: Continuable): ScopeChallengeHandler {
  return async ({ request, authInfo }) => {
    const handle = own(own(request.params, "arguments"), "call");
    // A handle is looked up only if the answer can matter, because anyone may send one.
    if (typeof handle !== "string" || !needsScopes(registry)) return undefined;
    const pause = await findPause(core, handle, principalOf(authInfo, derivePrincipal));
    const challenge = pause && registry.tool(pause.tool)?.config.scopeChallenge;
    if (challenge === undefined) return undefined;
    const params = { ...request.params, name: pause?.tool, arguments: pause?.arguments };
    return challenge({
      request: { ...request, params },
      ...(authInfo === undefined ? {} : { authInfo }),
    });
  };
}

/** Whether a tool of the author's needs scopes. */
function needsScopes(registry: Registry): boolean {
  for (const { kind, config, definition } of registry) {
    const isAuthors = kind === "tool" && definition.isOwn !== true;
    if (isAuthors && config.scopeChallenge !== undefined) return true;
  }
  return false;
}

/** It loads nothing, so it needs no permission. It has a border of its own, and none where nothing is asked. */
const appMeta = { ui: { prefersBorder: false } };

function formResource({ name }: Core): Registration {
  const config = {
    title: "Form",
    description: "Shows the questions of a call as a form.",
    mimeType: appType,
    _meta: appMeta,
  };
  return {
    kind: "resource",
    name: "parley_form",
    uri: formUri,
    isTemplate: false,
    config,
    definition: defineResource("parley_form", formUri, config, async () => {
      // Loaded when a host first asks for it, because most servers show no App.
      const { appPage } = await import("../../ui/app-page.ts");
      const text = await appPage(name);
      return { contents: [{ uri: formUri, mimeType: appType, text, _meta: appMeta }] };
    }),
  };
}
