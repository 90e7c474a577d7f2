// The page behind the link: who may decide, what they see, and what a decision does.

import { ParleyError } from "mcp-parley";
import type { App } from "mcp-parley";
import type { Person } from "./people.ts";
import type { Trail, TrailLine } from "./trail.ts";

export interface Page {
  readonly status: number;
  readonly html: string;
}

/** Shows the request. It changes nothing, because programs also open the links in mails. */
export function show(app: App, trail: Trail, ticket: string, person: Person | undefined): Page {
  const found = look(app, trail, ticket, person);
  if (!found.isAllowed) return said(found.status, found.why);
  const { who, what, at } = found.asked;
  const html = `<p>${escape(who)} wants to deploy <b>${escape(what)}</b>, since ${at}.</p>
<form method="post">
  <input type="hidden" name="ticket" value="${escape(ticket)}">
  <button name="decision" value="approve">Approve</button>
  <button name="decision" value="refuse">Refuse</button>
</form>`;
  return { status: 200, html };
}

/** Delivers a decision. The trail records it, whether it counts or not. */
export async function decide(
  app: App,
  trail: Trail,
  ticket: string,
  person: Person | undefined,
  isApproved: boolean,
): Promise<Page> {
  const found = look(app, trail, ticket, person);
  const { what, call } = found.asked ?? { what: "unknown", call: "unknown" };
  const who = person?.name ?? "anonymous";
  const write = (outcome: string) =>
    trail.write({ who, did: isApproved ? "approve" : "refuse", what, call, outcome });
  if (!found.isAllowed) {
    write(found.why);
    return said(found.status, found.why);
  }
  const outcome = await app.deliver(ticket, { isApproved, by: who });
  write(outcome.status);
  if (outcome.status === "invalid") return said(422, `Please try again: ${outcome.reason}`);
  return said(outcome.status === "delivered" ? 200 : 409, sentences[outcome.status]);
}

const sentences = {
  delivered: "Thank you. Your decision is on its way.",
  already_answered: "This has already been decided.",
  gone: "This request is over. It was decided or cancelled, or its time ran out.",
};

// ----------------------------------------------------------------

type Found =
  | { readonly isAllowed: true; readonly asked: TrailLine }
  | {
      readonly isAllowed: false;
      readonly status: number;
      readonly why: string;
      readonly asked?: TrailLine | undefined;
    };

/** Whether this person may decide on this ticket's request. Having the link is not enough. */
function look(app: App, trail: Trail, ticket: string, person: Person | undefined): Found {
  if (person === undefined) return refused(401, "Sign in first.");
  try {
    const { callId, principal } = app.readTicket(ticket);
    const asked = trail.asked(callId);
    if (asked === undefined) return refused(404, "This request does not exist.");
    if (principal === person.name)
      return refused(403, "You asked for this yourself, so another person has to decide.", asked);
    if (!person.mayApprove) return refused(403, "You are not allowed to decide on this.", asked);
    return { isAllowed: true, asked };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return refused(410, error.message);
  }
}

const refused = (status: number, why: string, asked?: TrailLine): Found => ({
  isAllowed: false,
  status,
  why,
  asked,
});

const said = (status: number, text: string): Page => ({ status, html: `<p>${escape(text)}</p>` });

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
