// Puts an app's tools, prompts and resources on an official McpServer. The SDK keeps all that is its own:
// lists, completion, header and scope checks, both eras; a request for one of ours comes to `serveRound`.

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
  methodNotFound,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { failureResponse } from "../round/failure.ts";
import type { PrincipalOf } from "../round/principal.ts";
import type { Registration, RegisteredResource } from "../define/registry.ts";
import { createTaskResult } from "../tasks/wire.ts";
import { ttlOf } from "./legacy-tasks.ts";
import type { LegacyTasks } from "./legacy-tasks.ts";
import { serveRound } from "../round/round.ts";
import type { RoundResponse, RoundRequest } from "../round/request.ts";
import { passThrough } from "./pass-through.ts";
import { received } from "./received.ts";
import { Responses } from "./responses.ts";
import type { TaskWish } from "./responses.ts";
import { servedBefore } from "./served.ts";
import { installTasks } from "./task-methods.ts";

export interface Installation {
  readonly core: Core;
  readonly registrations: Iterable<Registration>;
  readonly derivePrincipal: PrincipalOf | undefined;
  /** For a peer of the draft (src/draft), which says how long a task should last. */
  readonly isDraft?: boolean | undefined;
}

export function install(server: McpServer, installation: Installation): void {
  const responses = new Responses(server);
  // The draft has no arguments in headers, so there is nothing to compare them with.
  if (installation.isDraft === true) server.toolInputSchemaJson = () => undefined;
  // Without it the SDK drops what `ctx.log` sends, and says nothing.
  server.server.registerCapabilities({ logging: {} });
  const legacyTasks = offersTasks(installation.core, installation.registrations)
    ? installTasks(server, installation.core, responses, installation.derivePrincipal)
    : undefined;
  const serve = (definition: Definition) =>
    serving({ server, responses, legacyTasks, installation }, definition);
  for (const registration of installation.registrations) {
    switch (registration.kind) {
      case "tool": {
        const { name, config, definition } = registration;
        const { inputSchema, outputSchema, task: _task, once: _once, ...rest } = config;
        const answer = serve(definition);
        const isTask = definition.task !== undefined;
        const described = {
          ...defined(rest),
          ...(outputSchema === undefined ? {} : { outputSchema: passThrough(outputSchema) }),
        };
        if (inputSchema === undefined) {
          const tool = server.registerTool(name, described, (ctx) =>
            answer<CallToolResult>(ctx, name, {}),
          );
          if (isTask) tool.execution = { taskSupport: definition.task };
        } else {
          const tool = server.registerTool(
            name,
            { ...described, inputSchema: passThrough(inputSchema) },
            (args, ctx) => answer<CallToolResult>(ctx, name, args),
          );
          if (isTask) tool.execution = { taskSupport: definition.task };
        }
        break;
      }
      case "prompt": {
        const { name, config, definition } = registration;
        const { argsSchema, ...rest } = config;
        const answer = serve(definition);
        if (argsSchema === undefined) {
          server.registerPrompt(name, defined(rest), (ctx) =>
            answer<GetPromptResult>(ctx, name, {}),
          );
        } else {
          server.registerPrompt(
            name,
            { ...defined(rest), argsSchema: passThrough(argsSchema) },
            (args, ctx) => answer<GetPromptResult>(ctx, name, args),
          );
        }
        break;
      }
      case "resource":
        installResource(server, registration, serve(registration.definition));
        break;
    }
  }
}

/** Whether this server speaks the tasks extension at all. */
export function offersTasks({ store }: Core, registrations: Iterable<Registration>): boolean {
  return (
    store !== undefined &&
    [...registrations].some(({ definition }) => definition.task !== undefined)
  );
}

type Answer = <R>(
  ctx: ServerContext,
  target: string,
  args: unknown,
) => Promise<R | InputRequiredResult>;

function installResource(server: McpServer, resource: RegisteredResource, answer: Answer): void {
  const { name, uri, isTemplate, config } = resource;
  const { list, complete, ...rest } = config;
  if (!isTemplate) {
    server.registerResource(name, uri, defined(rest), (url, ctx) =>
      answer<ReadResourceResult>(ctx, url.href, {}),
    );
    return;
  }
  const template = new ResourceTemplate(uri, {
    list: list && (async () => ({ resources: [...(await list())] })),
    ...(complete === undefined ? {} : { complete: defined(complete) }),
  });
  server.registerResource(name, template, defined(rest), (url, _variables, ctx) =>
    answer<ReadResourceResult>(ctx, url.href, {}),
  );
}

interface Installed {
  readonly server: McpServer;
  readonly responses: Responses;
  readonly legacyTasks: LegacyTasks | undefined;
  readonly installation: Installation;
}

function serving(
  { server, responses, legacyTasks, installation }: Installed,
  definition: Definition,
): Answer {
  const { core, derivePrincipal, isDraft = false } = installation;
  return async <R>(ctx: ServerContext, target: string, args: unknown) => {
    const { request, isModern, release } = received(server, ctx, target, args, derivePrincipal);
    try {
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
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a placeholder; see responses.ts
        return placeholder as R;
      }
      const isMalformed = responses.hadMalformedAnswers(ctx.mcpReq.id);
      const before = ctx.http?.req && servedBefore.get(ctx.http.req);
      const answer =
        before ??
        (await serveRound(core, definition, {
          ...request,
          ...(isMalformed ? { inputResponses: null } : {}),
          taskTtlMs: wish && ttlOf(wish, core.limits.taskTtlMs),
        }));
      const result = wire(answer, isModern, definition, responses, ctx);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the definition makes what its method returns; the SDK's types also cover the older era
      return result as R | InputRequiredResult;
    } finally {
      release();
    }
  };
}

/** 2025-11-25: the client says whether a call is a task, and must say so, or not, as the tool has it. */
async function legacyTask(
  core: Core,
  legacyTasks: LegacyTasks,
  responses: Responses,
  definition: Definition,
  request: RoundRequest,
  wish: TaskWish | undefined,
  { mcpReq: { id } }: ServerContext,
): Promise<object> {
  const { name } = definition;
  if (wish === undefined) {
    const message = `"${name}" runs as a task only: send params.task`;
    return responses.fail(id, { code: methodNotFound, message });
  }
  if (definition.task === undefined) {
    const message = `"${name}" does not run as a task: send no params.task`;
    return responses.fail(id, { code: methodNotFound, message });
  }
  try {
    return responses.answer(id, await legacyTasks.create(definition, request, wish));
  } catch (error) {
    // Thrown, the SDK would make a result of it, where a task is expected.
    const answer = failureResponse(core, definition, error);
    const { code, message, data } =
      answer.kind === "error"
        ? answer
        : { code: internalError, message: "The task could not be made", data: undefined };
    return responses.fail(id, { code, message, ...(data === undefined ? {} : { data }) });
  }
}

/** The SDK takes it from here: to the client as it is, or, of a legacy session, to its shim that asks. */
function wire(
  answer: RoundResponse,
  isModern: boolean,
  definition: Definition,
  responses: Responses,
  { mcpReq, sessionId, http }: ServerContext,
): object {
  switch (answer.kind) {
    case "complete":
    case "input_required":
      return answer.result;
    case "task":
      return responses.answer(mcpReq.id, createTaskResult(answer.task));
    case "error": {
      const { code, message, data } = answer;
      if (!isModern && code === missingClientCapability) {
        const isStateless = http !== undefined && sessionId === undefined;
        return legacyRefusal(definition, message, isStateless);
      }
      if (definition.method !== "tools/call") throw new ProtocolError(code, message, data);
      return responses.fail(mcpReq.id, { code, message, ...(data && { data }) });
    }
    case "none":
      throw new ProtocolError(internalError, "Nobody waits for this response.");
  }
}

/** 2025-11-25 has no code for a missing capability; a tool says it in its result. */
function legacyRefusal(definition: Definition, message: string, isStateless: boolean): object {
  const why = isStateless
    ? `${message} Over stateless HTTP a 2025-11-25 client cannot be asked at all: connect with a session (begin with initialize, and keep the Mcp-Session-Id), over stdio, or with a 2026-07-28 client.`
    : message;
  const result = definition.toFailure(why);
  if (result === undefined) throw new ProtocolError(internalError, why);
  return result;
}

/** The SDK's optional members may be absent, but not undefined. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const present = Object.entries(value).filter(([, member]) => member !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was undefined is absent
  return Object.fromEntries(present) as { [K in keyof T]: Exclude<T[K], undefined> };
}
