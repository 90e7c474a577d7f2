// Makes the request of a round from the SDK's request context. The SDK lacks three things that are added here: a caller
// that is a user rather than an application, answers that it dropped as malformed, and progress that only grows.

import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from "@modelcontextprotocol/server";
import type {
  ClientCapabilities,
  Implementation,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { partNotification } from "../../protocol/streaming.ts";
import { Stop } from "../../replay/stop.ts";
import { principalOf } from "../round/principal.ts";
import type { PrincipalOf } from "../round/principal.ts";
import type { Core } from "../core.ts";
import type { RoundRequest } from "../round/request.ts";
import { ClientParts, wantedStream } from "../round/client-parts.ts";
import type { PartChannel } from "../round/client-parts.ts";
import { Notifier } from "../round/notifier.ts";
import { appsExtension } from "../../protocol/paused-call.ts";
import { UnreadBytes } from "./unread-bytes.ts";

/** A round's request, and what the SDK's context says about it. */
export interface SdkRoundRequest {
  readonly request: RoundRequest;
  /** Whether the request has an envelope of its own, as 2026-07-28 requires. */
  readonly isModern: boolean;
  /** Stops listening to the SDK's signal. Call it when the round is over. */
  readonly release: () => void;
}

/** Whether a request is of 2026-07-28, where each says what its client can do. */
export function isModernRequest({ mcpReq }: ServerContext): boolean {
  return envelopeOf(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY] !== undefined;
}

/** What the app adds. */
interface Asked {
  readonly core: Core;
  readonly derivePrincipal: PrincipalOf | undefined;
  readonly isAttached?: boolean | undefined;
}

/** Makes the request of a round. */
export function roundRequest(
  server: McpServer,
  context: ServerContext,
  target: string,
  args: unknown,
  { core, derivePrincipal, isAttached }: Asked,
): SdkRoundRequest {
  const { mcpReq, http } = context;
  const envelope = envelopeOf(mcpReq.envelope);
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
  const isModern = declared !== undefined;
  const capabilities = declared ?? legacyCapabilities(server);
  const authInfo = http?.authInfo;
  const stop = new Stop();
  const onAbort = () => stop.stop(isModern && http !== undefined ? "Disconnected" : "Cancelled");
  mcpReq.signal.addEventListener("abort", onAbort, { once: true });
  return {
    isModern,
    release: () => mcpReq.signal.removeEventListener("abort", onAbort),
    request: {
      target,
      arguments: args,
      requestState: mcpReq.requestState(),
      inputResponses: sentAnswers(context),
      capabilities,
      principal: principalOf(authInfo, derivePrincipal),
      facts: {
        authInfo,
        clientInfo: envelope[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion(),
        meta: mcpReq._meta ?? {},
        headers: http?.req?.headers,
      },
      stop,
      notify: notifierFor(core, context, capabilities, isAttached === true),
    },
  };
}

/** 2025-11-25 has no extensions, so those that the client declares are ignored, except that it shows MCP Apps. */
function legacyCapabilities(server: McpServer): ClientCapabilities {
  const { extensions, ...known } = server.server.getClientCapabilities() ?? {};
  const apps = extensions?.[appsExtension];
  return apps === undefined ? known : { ...known, extensions: { [appsExtension]: apps } };
}

interface SdkEnvelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
  readonly [CLIENT_INFO_META_KEY]?: Implementation;
}

/** The SDK has checked the envelope, but its type does not say what it holds. */
function envelopeOf(envelope: object = {}): SdkEnvelope {
  return envelope;
}

/** The answers of a request. The SDK drops malformed ones; here they count as answers that do not fit. */
export function sentAnswers({ mcpReq }: ServerContext): unknown {
  const { inputResponses, droppedInputResponseKeys = [] } = mcpReq;
  if (droppedInputResponseKeys.length === 0) return inputResponses;
  const dropped = droppedInputResponseKeys.map((key) => [key, {}]);
  return { ...inputResponses, ...Object.fromEntries(dropped) };
}

function notifierFor(
  core: Core,
  context: ServerContext,
  capabilities: ClientCapabilities,
  isAttached: boolean,
): RoundRequest["notify"] {
  const { mcpReq } = context;
  const stream = wantedStream(mcpReq._meta, capabilities);
  return new Notifier(mcpReq._meta?.progressToken, {
    progress: (params) =>
      void mcpReq.notify({ method: "notifications/progress", params: { ...params } }).catch(ignore),
    log: (level, data) => void mcpReq.log(level, data).catch(ignore),
    parts: () =>
      stream === undefined
        ? undefined
        : new ClientParts(stream, partsOver(core, context, isAttached), core),
    now: core.environment.now,
  });
}

/** Carries parts to the client of a request. */
export function partsOver(
  { limits }: Core,
  { mcpReq, http }: ServerContext,
  isAttached: boolean,
): PartChannel {
  const unread = UnreadBytes.of(http?.req);
  return {
    // Over stdio the SDK's promise resolves when the pipe has room.
    send: (params) =>
      mcpReq
        .notify({ method: partNotification, params: { ...params } })
        .then(() => unread?.room(), ignore),
    // Parley cannot count what the transport of another server has not sent yet.
    ...(isAttached ? { mostBytes: limits.streamBytes } : {}),
  };
}

// A notification to a client that has disconnected is not worth an error.
const ignore = () => {};
