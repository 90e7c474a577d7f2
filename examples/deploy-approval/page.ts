// The page behind the link: who may decide, what they see, and what becomes of it.

import { ParleyError } from "mcp-parley";
import type { App } from "mcp-parley";
import type { Person } from "./people.ts";
import type { Trail, TrailLine } from "./trail.ts";

export interface Page {
  readonly status: number;
  readonly html: string;
}

/** Changes nothing: programs open the links in mails, too. */
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

/** Whatever comes of it, it is written down. */
export async function decide(
  app: App,
  trail: Trail,
  ticket: string,
  person: Person | undefined,
  isApproved: boolean,
): Promise<Page> {
  const found = look(app, trail, ticket, person);
  const { what, call } = found.asked ?? { what: "unknown", call: "unknown" };
  const who = person?.name ?? "nobody";
  const write = (outcome: string) =>
    trail.write({ who, did: isApproved ? "approve" : "refuse", what, call, outcome });
  if (!found.isAllowed) {
    write(found.why);
    return said(found.status, found.why);
  }
  const outcome = await app.deliver(ticket, { isApproved, by: who });
  write(outcome);
  return said(outcome === "delivered" ? 200 : 409, sentences[outcome]);
}

const sentences = {
  delivered: "Thank you. Your decision is on its way.",
  "already answered": "Somebody has decided on this already.",
  gone: "This is over: it was decided, cancelled, or nobody answered in time.",
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

/** May this person decide on what this ticket is for? Having the link is not enough. */
function look(app: App, trail: Trail, ticket: string, person: Person | undefined): Found {
  if (person === undefined) return refused(401, "Sign in first.");
  try {
    const { callId, principal } = app.readTicket(ticket);
    const asked = trail.asked(callId);
    if (asked === undefined) return refused(404, "There is no such request.");
    if (principal === person.name)
      return refused(403, "You asked for it, so somebody else decides.", asked);
    if (!person.mayApprove) return refused(403, "You may not decide on this.", asked);
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
