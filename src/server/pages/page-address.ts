// Where the pages are, and the tickets in their addresses.

import { sealTicket } from "../../token/ticket.ts";
import type { Core } from "../core.ts";

/** A question of a call, as the ticket of its page names it. */
export interface PageKey {
  readonly callId: string;
  readonly key: string;
  readonly digest: string;
  /** How many times it has been asked. */
  readonly asked: number;
}

/** Seals a ticket for a question of the caller. */
export function pageTicket(
  core: Core,
  { callId, key, digest, asked }: PageKey,
  principal: string | undefined,
  expiresAt: number,
): string {
  return sealTicket(
    { kind: "url", callId, key, digest, asked, principal, audience: core.name, expiresAt },
    core.keyring(),
  );
}

/** The address of the page of a ticket. Undefined if the app has no public address. */
export function pageAddress(core: Core, ticket: string): string | undefined {
  const base = core.publicUrl();
  return base && `${base.href.replace(/\/$/, "")}/ask/${ticket}`;
}
