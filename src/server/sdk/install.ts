// Installs an app's tools, prompts and resources on an official McpServer. The SDK still does what it does for any server:
// lists, completion, header and scope checks, both protocol versions. A request for one of our handlers goes to `serveRound`.

import { ProtocolError, ResourceTemplate } from "@modelcontextprotocol/server";
import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  McpServer,
  ReadResourceResult,
  ServerContext,
} from "@modelcontextprotocol/server";
import {
  internalError,
  invalidParams,
  methodNotFound,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import { streamingExtension } from "../../protocol/streaming.ts";
import { draftVersion, legacyVersion, modernVersion } from "../../protocol/versions.ts";
import type { Era } from "../../protocol/versions.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { LinearTemplate } from "../define/linear-template.ts";
import { failureResponse } from "../round/failure.ts";
import type { PrincipalOf } from "../round/principal.ts";
import type { Registration, RegisteredResource } from "../define/registry.ts";
import { neededParts } from "../store-parts.ts";
import { createTaskResult } from "../tasks/wire.ts";
import type { LegacyTasks } from "./legacy-tasks.ts";
import { serveLegacyRounds } from "./legacy-rounds.ts";
import { unmetRequirement } from "../round/requirements.ts";
import { serveRound } from "../round/round.ts";
import type { RoundResponse, RoundRequest } from "../round/request.ts";
import { logged } from "./author-callbacks.ts";
import { passThrough } from "./pass-through.ts";
import { ResponseOverrides, ttlOf } from "./response-overrides.ts";
import type { TaskWish } from "./response-overrides.ts";
import { roundRequest } from "./round-request.ts";

/** What is installed. */
export interface Installation {
  readonly core: Core;
  readonly registrations: Iterable<Registration>;
  readonly derivePrincipal: PrincipalOf | undefined;
  /** Whether the server serves a client of a draft, which says how long a task should last. */
  readonly isDraft?: boolean | undefined;
  /** The response to the one request of this server, if its round has been served already. */
  readonly served?: RoundResponse | undefined;
  /** Whether the server is the author's own, with a transport that Parley does not know. */
  readonly isAttached?: boolean | undefined;
}

/** 2025-11-25 has no extensions, so its clients find this one among the experimental capabilities. */
const streaming = {
  extensions: { [streamingExtension]: {} },
  experimental: { [streamingExtension]: {} },
};

/** Serves a definition's requests for the SDK. */
export type Serve = (definition: Definition) => Respond;

/** Installs the handlers of an app, before the server connects. Returns what serves further tools of that server. */
export function install(server: McpServer, installation: Installation): Serve {
  const responses = new ResponseOverrides(server);
  // The draft does not send arguments in headers, so the SDK must not compare them.
  if (installation.isDraft === true) server.toolInputSchemaJson = () => undefined;
  // Without this capability the SDK silently drops what `ctx.log` sends. Without a handler, nothing is sent.
  const [first] = installation.registrations;
  if (first !== undefined) server.server.registerCapabilities({ logging: {}, ...streaming });
  const legacyTasks = offersTasks(installation.core, installation.registrations)
    ? neededParts().installTasks(
        server,
        installation.core,
        responses,
        installation.derivePrincipal,
        installation.isAttached === true,
      )
    : undefined;
  const serve = (definition: Definition) =>
    serving({ server, responses, legacyTasks, installation }, definition);
  for (const registration of installation.registrations) {
    switch (registration.kind) {
      case "tool": {
        const { name, config, definition } = registration;
        const { inputSchema, outputSchema, ...own } = config;
        const { task: _task, once: _once, ui: _ui, requires: _requires, ...rest } = own;
        const respond = serve(definition);
        const isTask = definition.task !== undefined;
        const described = {
          ...defined(rest),
          ...(outputSchema === undefined ? {} : { outputSchema: passThrough(outputSchema) }),
        };
        if (inputSchema === undefined) {
          const tool = server.registerTool(name, described, (ctx) =>
            respond<CallToolResult>(ctx, name, {}),
          );
          if (isTask) tool.execution = { taskSupport: definition.task };
          legacyTasks?.noteOutput(name, tool.outputSchemaJson);
        } else {
          const tool = server.registerTool(
            name,
            { ...described, inputSchema: passThrough(inputSchema) },
            (args, ctx) => respond<CallToolResult>(ctx, name, args),
          );
          if (isTask) tool.execution = { taskSupport: definition.task };
          legacyTasks?.noteOutput(name, tool.outputSchemaJson);
        }
        break;
      }
      case "prompt": {
        const { name, config, definition } = registration;
        const { argsSchema, ...rest } = config;
        const respond = serve(definition);
        if (argsSchema === undefined) {
          server.registerPrompt(name, defined(rest), (ctx) =>
            respond<GetPromptResult>(ctx, name, {}),
          );
        } else {
          server.registerPrompt(
            name,
            { ...defined(rest), argsSchema: passThrough(argsSchema) },
            (args, ctx) => respond<GetPromptResult>(ctx, name, args),
          );
        }
        break;
      }
      case "resource":
        installResource(server, installation.core, registration, serve(registration.definition));
        break;
    }
  }
  return serve;
}

/** Whether this server speaks the tasks extension: it has a store, and a tool that can become a task. */
export function offersTasks({ store }: Core, registrations: Iterable<Registration>): boolean {
  return (
    store !== undefined &&
    [...registrations].some(({ definition }) => definition.task !== undefined)
  );
}

/** Serves one request, and returns what the SDK is to send. */
export type Respond = <R>(
  ctx: ServerContext,
  target: string,
  args: unknown,
) => Promise<R | InputRequiredResult>;

/** Returns the values that begin with what is typed so far. */
type Complete = (value: string) => string[] | Promise<string[]>;

function installResource(
  server: McpServer,
  core: Core,
  resource: RegisteredResource,
  respond: Respond,
): void {
  const { name, uri, isTemplate, config, definition } = resource;
  const { list, complete, ...rest } = config;
  if (!isTemplate) {
    server.registerResource(name, uri, defined(rest), (url, ctx) =>
      respond<ReadResourceResult>(ctx, url.href, {}),
    );
    return;
  }
  const template = new ResourceTemplate(new LinearTemplate(uri), {
    list: list && logged(core, definition, async () => ({ resources: [...(await list())] })),
    ...(complete === undefined
      ? {}
      : {
          complete: Object.fromEntries(
            Object.entries<Complete>(defined(complete)).map(([variable, values]) => [
              variable,
              logged(core, definition, values),
            ]),
          ),
        }),
  });
  server.registerResource(name, template, defined(rest), (url, _variables, ctx) =>
    respond<ReadResourceResult>(ctx, url.href, {}),
  );
}

interface Installed {
  readonly server: McpServer;
  readonly responses: ResponseOverrides;
  readonly legacyTasks: LegacyTasks | undefined;
  readonly installation: Installation;
}

function serving(
  { server, responses, legacyTasks, installation }: Installed,
  definition: Definition,
): Respond {
  const { core, isDraft = false, served } = installation;
  return async <R>(ctx: ServerContext, target: string, args: unknown) => {
    const {
      request: sent,
      isModern,
      release,
    } = roundRequest(server, ctx, target, args, installation);
    try {
      const request = { ...sent, era: eraOf(isModern, isDraft) };
      const wish = isModern && !isDraft ? undefined : responses.wishForTask(ctx.mcpReq.id);
      const isTaskCall = !isModern && (wish !== undefined || definition.task === "required");
      if (isTaskCall && legacyTasks !== undefined) {
        const placeholder = await legacyTask(
          core,
          legacyTasks,
          responses,
          definition,
          request,
          wish,
          ctx,
        );
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a placeholder, see responses.ts
        return placeholder as R;
      }
      const isMalformed = responses.hadMalformedAnswers(ctx.mcpReq.id);
      const first = {
        ...request,
        ...(isMalformed ? { inputResponses: null } : {}),
        taskTtlMs: wish && ttlOf(wish, core.limits.taskTtlMs),
        isTaskWanted: isDraft && wish !== undefined && !wish.isDeferred,
      };
      const round = served ?? (await serveRound(core, definition, first));
      const response = isModern
        ? round
        : await serveLegacyRounds(core, definition, first, round, ctx);
      const result = sdkResult(response, isModern, definition, responses, ctx);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the definition makes what its method returns; the SDK's types also cover 2025-11-25
      return result as R | InputRequiredResult;
    } finally {
      release();
    }
  };
}

function eraOf(isModern: boolean, isDraft: boolean): Era {
  if (isDraft) return draftVersion;
  return isModern ? modernVersion : legacyVersion;
}

/** In 2025-11-25 the client says whether a call is a task, and it must do so exactly where the tool requires it. */
async function legacyTask(
  core: Core,
  legacyTasks: LegacyTasks,
  responses: ResponseOverrides,
  definition: Definition,
  request: RoundRequest,
  wish: TaskWish | undefined,
  { mcpReq: { id } }: ServerContext,
): Promise<object> {
  const { name } = definition;
  if (wish === undefined) {
    const message = `Tool "${name}" runs only as a task, and this client did not ask for one. Nothing has run. Use a client that supports tasks.`;
    return responses.fail(id, { code: methodNotFound, message });
  }
  if (definition.task === undefined) {
    const message = `Tool "${name}" does not run as a task, and this client asked for one. Nothing has run. Call it without a task.`;
    return responses.fail(id, { code: methodNotFound, message });
  }
  const refused = unmetRequirement(core, definition, request, ["task"]);
  if (refused !== undefined) {
    return responses.fail(id, { code: invalidParams, message: refused.message });
  }
  try {
    return responses.succeed(id, await legacyTasks.create(definition, request, wish));
  } catch (error) {
    // If it were thrown, the SDK would turn it into a result, where the client expects a task.
    const failure = failureResponse(core, definition, error);
    const { code, message, data } =
      failure.kind === "error"
        ? failure
        : { code: internalError, message: "The task could not be created", data: undefined };
    return responses.fail(id, { code, message, ...(data === undefined ? {} : { data }) });
  }
}

/** What the handler returns to the SDK. */
function sdkResult(
  response: RoundResponse,
  isModern: boolean,
  definition: Definition,
  responses: ResponseOverrides,
  { mcpReq, sessionId, http }: ServerContext,
): object {
  switch (response.kind) {
    case "complete":
    case "input_required":
      return response.result;
    case "task":
      return responses.succeed(mcpReq.id, createTaskResult(response.task));
    case "error": {
      const { code, message, data } = response;
      if (!isModern && code === missingClientCapability) {
        const isStateless = http !== undefined && sessionId === undefined;
        return legacyRefusal(definition, message, isStateless);
      }
      if (definition.method !== "tools/call") throw new ProtocolError(code, message, data);
      return responses.fail(mcpReq.id, {
        code,
        message,
        ...(data === undefined ? {} : { data }),
      });
    }
    case "none":
      throw new ProtocolError(internalError, "The request was cancelled.");
  }
}

/** 2025-11-25 has no error code for a missing capability, so the result of the tool says it. */
function legacyRefusal(definition: Definition, message: string, isStateless: boolean): object {
  const why = isStateless
    ? `${message} Over stateless HTTP a 2025-11-25 client cannot be asked at all: connect with a session (send initialize first and keep the Mcp-Session-Id), over stdio, or with a 2026-07-28 client.`
    : message;
  const result = definition.toFailure(why);
  if (result === undefined) throw new ProtocolError(internalError, why);
  return result;
}

/** The SDK's types allow optional members to be absent, but not undefined. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const present = Object.entries(value).filter(([, member]) => member !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- members that were undefined are absent
  return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> };
}
