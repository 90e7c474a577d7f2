// A seam in the SDK: the methods of tasks, which the SDK does not have. They are set as request handlers of its server,
// with params that it does not validate, and serve 2026-07-28 and 2025-11-25 clients alike.

import { CLIENT_CAPABILITIES_META_KEY, ProtocolError } from "@modelcontextprotocol/server";
import type {
  ClientCapabilities,
  McpServer,
  ServerContext,
  StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { internalError, methodNotFound } from "../../protocol/error-codes.ts";
import { readStreamsMethod } from "../../protocol/streaming.ts";
import { tasksExtension } from "../../protocol/task.ts";
import type { Core } from "../core.ts";
import { principalOf } from "../round/principal.ts";
import type { PrincipalOf } from "../round/principal.ts";
import { serveTask, unreachable } from "../tasks/requests.ts";
import type { TaskResponse, TaskRequest } from "../tasks/requests.ts";
import { LegacyTasks } from "./legacy-tasks.ts";
import type { ResponseOverrides } from "./response-overrides.ts";
import { serveStreams } from "../tasks/stream-requests.ts";
import { partsOver, sentAnswers } from "./round-request.ts";

/** Lets everything through. The params are checked later, after the caller. */
const anyParams: StandardSchemaV1<unknown, TaskParams> = {
  "~standard": {
    version: 1,
    vendor: "parley",
    validate: (value) => ({ value: typeof value === "object" && value !== null ? value : {} }),
  },
};

interface TaskParams {
  readonly taskId?: unknown;
  readonly cursor?: unknown;
  readonly after?: unknown;
}

/** Declares the extension as exactly `{}`, because some clients accept nothing else. */
export function installTasks(
  server: McpServer,
  core: Core,
  responses: ResponseOverrides,
  derivePrincipal: PrincipalOf | undefined,
  isAttached: boolean,
): LegacyTasks {
  const { server: protocol } = server;
  const legacy = new LegacyTasks(server, core);
  protocol.registerCapabilities({
    extensions: { [tasksExtension]: {} },
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  });
  const principalIn = ({ http }: ServerContext) => principalOf(http?.authInfo, derivePrincipal);
  const serve = async (
    method: TaskRequest["method"],
    { taskId }: TaskParams,
    ctx: ServerContext,
  ) => {
    const { mcpReq } = ctx;
    const isMalformed = responses.hadMalformedAnswers(mcpReq.id);
    const response = await serveTask(core, {
      method,
      taskId,
      inputResponses: isMalformed ? null : sentAnswers(ctx),
      capabilities: capabilitiesOf(mcpReq.envelope),
      principal: principalIn(ctx),
    });
    return resultOf(response);
  };
  const serveLegacy = (method: string, result: Promise<AnyResult>) =>
    result.catch((error: unknown) => {
      throw error instanceof ProtocolError ? error : errorOf(unreachable(core, method, error));
    });
  protocol.setRequestHandler("tasks/get", { params: anyParams }, (params, ctx) =>
    isModern(ctx)
      ? serve("tasks/get", params, ctx)
      : serveLegacy("tasks/get", legacy.get(params.taskId, principalIn(ctx))),
  );
  protocol.setRequestHandler("tasks/update", { params: anyParams }, (params, ctx) => {
    if (!isModern(ctx)) throw new ProtocolError(methodNotFound, "Method not found");
    return serve("tasks/update", params, ctx);
  });
  protocol.setRequestHandler(readStreamsMethod, { params: anyParams }, async (params, ctx) => {
    const { mcpReq } = ctx;
    if (!isModern(ctx)) throw new ProtocolError(methodNotFound, "Method not found");
    const response = await serveStreams(core, {
      taskId: params.taskId,
      after: params.after,
      meta: mcpReq._meta,
      capabilities: capabilitiesOf(mcpReq.envelope),
      principal: principalIn(ctx),
      channel: partsOver(core, ctx, isAttached),
      signal: mcpReq.signal,
    });
    // The client has gone and cannot read it.
    if (response === undefined) throw new ProtocolError(internalError, "The client has gone.");
    return resultOf(response);
  });
  protocol.setRequestHandler("tasks/cancel", { params: anyParams }, (params, ctx) =>
    isModern(ctx)
      ? serve("tasks/cancel", params, ctx)
      : serveLegacy("tasks/cancel", legacy.cancel(params.taskId, principalIn(ctx))),
  );
  // Only for 2025-11-25. In 2026-07-28 the SDK responds that there is no such method.
  protocol.setRequestHandler("tasks/result", { params: anyParams }, (params, ctx) =>
    serveLegacy("tasks/result", legacy.result(params.taskId, principalIn(ctx), ctx)),
  );
  protocol.setRequestHandler("tasks/list", { params: anyParams }, (params, ctx) => {
    const principal = principalIn(ctx);
    const isShared = principal === undefined && ctx.http !== undefined;
    return serveLegacy("tasks/list", legacy.list(params.cursor, principal, isShared));
  });
  return legacy;
}

const isModern = ({ mcpReq }: ServerContext) =>
  mcpReq.envelope !== undefined && CLIENT_CAPABILITIES_META_KEY in mcpReq.envelope;

function capabilitiesOf(envelope: object = {}): ClientCapabilities {
  const {
    [CLIENT_CAPABILITIES_META_KEY]: capabilities = {},
  }: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = envelope;
  return capabilities;
}

interface AnyResult {
  [member: string]: unknown;
}

function resultOf(response: TaskResponse): AnyResult {
  if (response.kind === "error") throw errorOf(response);
  return { ...response.result };
}

function errorOf({ code, message, data }: Extract<TaskResponse, { kind: "error" }>): ProtocolError {
  return new ProtocolError(code, message, data);
}
