// What a peer of the draft said of itself in `initialize`. The draft says it once a session, 2026-07-28 in every
// request; so it has to be kept. Over HTTP the client keeps it: its session id is what it said, and any instance can
// read it. It proves nothing and gives nothing: a client may say what it likes of itself.

import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

export interface Peer {
  readonly capabilities: Members;
  readonly clientInfo: Members | undefined;
}

/** Who never introduced itself can be asked nothing. */
export const stranger: Peer = { capabilities: {}, clientInfo: undefined };

/** Of the params of `initialize`, or whatever else has come in their place. */
export function peerOf(params: unknown): Peer {
  return {
    capabilities: menuOf(own(params, "capabilities")),
    clientInfo: clientInfoOf(own(params, "clientInfo")),
  };
}

const kinds = { elicitation: ["form", "url"], sampling: ["tools", "context"], roots: [] } as const;

/** Of what a client declares, that which a server can ask for; nothing else is kept, so it stays short. */
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

export function sessionIdOf(peer: Peer): string {
  return prefix + Buffer.from(JSON.stringify(peer)).toString("base64url");
}

/** Undefined: not one of ours. */
export function peerIn(sessionId: string): Peer | undefined {
  if (!sessionId.startsWith(prefix)) return undefined;
  try {
    return peerOf(JSON.parse(Buffer.from(sessionId.slice(prefix.length), "base64url").toString()));
  } catch {
    return undefined;
  }
}
