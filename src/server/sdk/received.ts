// From the SDK's request context to a round's request.

import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from "@modelcontextprotocol/server";
import type {
  ClientCapabilities,
  Implementation,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { Stop } from "../../replay/stop.ts";
import { principalOf } from "../round/principal.ts";
import type { PrincipalOf } from "../round/principal.ts";
import type { RoundRequest } from "../round/request.ts";

export interface Received {
  readonly request: RoundRequest;
  /** The request has an envelope of its own: 2026-07-28 or later. */
  readonly isModern: boolean;
  /** Removes what listens to the SDK's signal. */
  readonly release: () => void;
}

export function received(
  server: McpServer,
  context: ServerContext,
  target: string,
  args: unknown,
  derivePrincipal: PrincipalOf | undefined,
): Received {
  const { mcpReq, http } = context;
  const envelope = envelopeOf(mcpReq.envelope);
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
  const isModern = capabilities !== undefined;
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
      capabilities: capabilities ?? legacyCapabilities(server),
      principal: principalOf(authInfo, derivePrincipal),
      facts: {
        authInfo,
        clientInfo: envelope[CLIENT_INFO_META_KEY] ?? server.server.getClientVersion(),
        meta: mcpReq._meta ?? {},
        headers: http?.req?.headers,
      },
      stop,
      notify: notifier(context),
    },
  };
}

/** 2025-11-25 knows no extensions, whatever a client may say. */
function legacyCapabilities(server: McpServer): ClientCapabilities {
  const { extensions: _extensions, ...known } = server.server.getClientCapabilities() ?? {};
  return known;
}

interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
  readonly [CLIENT_INFO_META_KEY]?: Implementation;
}

/** The SDK has checked it before the request came here; only its type does not say what it holds. */
function envelopeOf(envelope: object = {}): Envelope {
  return envelope;
}

/** What the SDK dropped for its structure was an answer all the same: one that does not fit. */
export function sentAnswers({ mcpReq }: ServerContext): unknown {
  const { inputResponses, droppedInputResponseKeys = [] } = mcpReq;
  if (droppedInputResponseKeys.length === 0) return inputResponses;
  const dropped = droppedInputResponseKeys.map((key) => [key, {}]);
  return { ...inputResponses, ...Object.fromEntries(dropped) };
}

/** By the signal of its request: the SDK's shim passes the same one to every round of a legacy request. */
const lastProgress = new WeakMap<AbortSignal, number>();

function notifier({ mcpReq }: ServerContext): RoundRequest["notify"] {
  const progressToken = mcpReq._meta?.progressToken;
  return {
    progress: (done, total, message) => {
      // The specification wants each larger than the one before, through all rounds of a legacy request.
      const last = lastProgress.get(mcpReq.signal) ?? Number.NEGATIVE_INFINITY;
      if (progressToken === undefined || !(done > last)) return;
      lastProgress.set(mcpReq.signal, done);
      const params = {
        progressToken,
        progress: done,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      };
      mcpReq.notify({ method: "notifications/progress", params }).catch(ignore);
    },
    log: (level, data) => void mcpReq.log(level, data).catch(ignore),
  };
}

// A notification to a client that has gone is nobody's loss.
const ignore = () => {};
