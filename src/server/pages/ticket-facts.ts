// What a ticket says by itself, without a look at the question that it stands for.

import { openTicket } from "../../token/ticket.ts";
import type { Ticket } from "../../token/ticket.ts";
import type { Core } from "../core.ts";

/** Throws ParleyError "bad_ticket" for a ticket that this server has not sealed, or that has expired. */
export function readTicket(core: Core, ticket: string): Ticket {
  const { name, environment } = core;
  return openTicket(ticket, core.keyring(), { audience: name, now: environment.now() });
}

/** What a ticket says, for `app.readTicket`. */
export function ticketFacts(core: Core, ticket: string): TicketFacts {
  const { kind, callId, key, principal, expiresAt } = readTicket(core, ticket);
  return { kind: kindNames[kind], callId, key, principal, expiresAt: new Date(expiresAt) };
}

const kindNames = { url: "page", external: "wait", approval: "approval" } as const;

/** What a ticket says. */
export interface TicketFacts {
  /** "page": of a question to the caller. "wait": of a `ctx.waitFor`. "approval": of a `ctx.approve` by a group, or of a gate. */
  readonly kind: "page" | "wait" | "approval";
  /** The call that asked the question. */
  readonly callId: string;
  /** The question's key. */
  readonly key: string;
  /** The user who made the call. Undefined without credentials. */
  readonly principal: string | undefined;
  /** When the ticket expires. */
  readonly expiresAt: Date;
}
