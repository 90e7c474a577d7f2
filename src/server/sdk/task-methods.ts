// A seam in the SDK: the methods of the tasks extension, beside the SDK's own.

import { CLIENT_CAPABILITIES_META_KEY, ProtocolError } from "@modelcontextprotocol/server";
import type {
  ClientCapabilities,
  McpServer,
  ServerContext,
  StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { methodNotFound } from "../../protocol/error-codes.ts";
import { tasksExtension } from "../../protocol/task.ts";
import type { Core } from "../core.ts";
import { principalOf } from "../round/principal.ts";
import type { PrincipalOf } from "../round/principal.ts";
import { serveTask, unreachable } from "../tasks/requests.ts";
import type { TaskResponse, TaskRequest } from "../tasks/requests.ts";
import { LegacyTasks } from "./legacy-tasks.ts";
import { sentAnswers } from "./received.ts";
import type { Responses } from "./responses.ts";

/** What the SDK lets through: a round of ours looks at it itself, after it has looked at who is asking. */
const anyParams: StandardSchemaV1<unknown, Params> = {
  "~standard": {
    version: 1,
    vendor: "parley",
    validate: (value) => ({ value: isObject(value) ? value : {} }),
  },
};

interface Params {
  readonly taskId?: unknown;
  readonly cursor?: unknown;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** `registerCapabilities` declares exactly `{}`: there are clients that take nothing else. */
export function installTasks(
  server: McpServer,
  core: Core,
  responses: Responses,
  derivePrincipal: PrincipalOf | undefined,
): LegacyTasks {
  const { server: protocol } = server;
  const legacy = new LegacyTasks(server, core);
  protocol.registerCapabilities({
    extensions: { [tasksExtension]: {} },
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
  });
  const whoAsks = ({ http }: ServerContext) => principalOf(http?.authInfo, derivePrincipal);
  const serve = async (method: TaskRequest["method"], { taskId }: Params, ctx: ServerContext) => {
    const { mcpReq } = ctx;
    const isMalformed = responses.hadMalformedAnswers(mcpReq.id);
    const answer = await serveTask(core, {
      method,
      taskId,
      inputResponses: isMalformed ? null : sentAnswers(ctx),
      capabilities: capabilitiesOf(mcpReq.envelope),
      principal: whoAsks(ctx),
    });
    return resultOf(answer);
  };
  const serveLegacy = (method: string, answer: Promise<Result>) =>
    answer.catch((error: unknown) => {
      throw error instanceof ProtocolError ? error : errorOf(unreachable(core, method, error));
    });
  protocol.setRequestHandler("tasks/get", { params: anyParams }, (params, ctx) =>
    isModern(ctx)
      ? serve("tasks/get", params, ctx)
      : serveLegacy("tasks/get", legacy.get(params.taskId, whoAsks(ctx))),
  );
  protocol.setRequestHandler("tasks/update", { params: anyParams }, (params, ctx) => {
    if (!isModern(ctx)) throw new ProtocolError(methodNotFound, "Method not found");
    return serve("tasks/update", params, ctx);
  });
  protocol.setRequestHandler("tasks/cancel", { params: anyParams }, (params, ctx) =>
    isModern(ctx)
      ? serve("tasks/cancel", params, ctx)
      : serveLegacy("tasks/cancel", legacy.cancel(params.taskId, whoAsks(ctx))),
  );
  // 2025-11-25 alone: of a 2026-07-28 request the SDK says that there is no such method.
  protocol.setRequestHandler("tasks/result", { params: anyParams }, (params, ctx) =>
    serveLegacy("tasks/result", legacy.result(params.taskId, whoAsks(ctx), ctx)),
  );
  protocol.setRequestHandler("tasks/list", { params: anyParams }, (params, ctx) => {
    const principal = whoAsks(ctx);
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

interface Result {
  [member: string]: unknown;
}

function resultOf(answer: TaskResponse): Result {
  if (answer.kind === "error") throw errorOf(answer);
  return { ...answer.result };
}

function errorOf({ code, message, data }: Extract<TaskResponse, { kind: "error" }>): ProtocolError {
  return new ProtocolError(code, message, data);
}
