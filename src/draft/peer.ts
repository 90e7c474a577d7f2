// What a client of the draft said about itself in `initialize`. The draft says it once per session and 2026-07-28 says
// it in every request, so it has to be kept. Over HTTP the client keeps it: the session id contains it, and any server
// instance can read it. It proves nothing and grants nothing, because a client may claim anything about itself.

import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

/** A client of the draft, as it introduced itself. */
export interface Peer {
  readonly capabilities: Members;
  readonly clientInfo: Members | undefined;
}

/** A client that never introduced itself. It cannot be asked anything. */
export const stranger: Peer = { capabilities: {}, clientInfo: undefined };

/** Reads the params of `initialize`. Anything that does not fit is left out. */
export function peerOf(params: unknown): Peer {
  return {
    capabilities: menuOf(own(params, "capabilities")),
    clientInfo: clientInfoOf(own(params, "clientInfo")),
  };
}

const kinds = { elicitation: ["form", "url"], sampling: ["tools", "context"], roots: [] } as const;

/** The declared capabilities that a server can use to ask. The rest is dropped, which keeps the session id short. */
export function menuOf(declared: unknown): Members {
  const menu: Record<string, Members> = {};
  for (const [kind, modes] of Object.entries(kinds)) {
    const said = own(declared, kind);
    if (!isObject(said)) continue;
    const known = modes.filter((mode) => isObject(own(said, mode)));
    menu[kind] = Object.fromEntries(known.map((mode) => [mode, {}]));
  }
  return menu;
}

function clientInfoOf(info: unknown): Members | undefined {
  const [name, version] = [own(info, "name"), own(info, "version")];
  if (typeof name !== "string" || typeof version !== "string") return undefined;
  return { name: name.slice(0, 100), version: version.slice(0, 100) };
}

const prefix = "draft.";

/** The `Mcp-Session-Id` that `initialize` returns to this client. */
export function sessionIdOf(peer: Peer): string {
  return prefix + Buffer.from(JSON.stringify(peer)).toString("base64url");
}

/** The client behind a session id. Undefined if `sessionIdOf` did not make the id. */
export function peerIn(sessionId: string): Peer | undefined {
  if (!sessionId.startsWith(prefix)) return undefined;
  try {
    return peerOf(JSON.parse(Buffer.from(sessionId.slice(prefix.length), "base64url").toString()));
  } catch {
    return undefined;
  }
}
