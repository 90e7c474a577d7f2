// The page of an approval: what it is about, who has decided, and two buttons for those who may decide.

import type { Decision } from "../../errors.ts";
import type { FoundApproval, OpenApproval } from "../../tasks/approvals.ts";
import type { Ticket } from "../../token/ticket.ts";
import { approvalPage } from "../../ui/approval-form.ts";
import { actions } from "../../ui/ask-form.ts";
import { messagePage } from "../../ui/page.ts";
import type { Core } from "../core.ts";
import { html, safe, sentIn, unkept } from "../pages/page-response.ts";
import { visitorAt } from "../pages/visitors.ts";
import type { Doorkeeping } from "../pages/visitors.ts";
import { fromStore } from "../tasks/store-needed.ts";
import { asDecision } from "./approval-question.ts";
import { decideOn, mayDecide, mostNote, shownIn } from "./decide.ts";
import { checkPerson } from "./people.ts";

/** A member of the group who may decide. */
interface Member {
  readonly who: string;
  readonly groups: readonly string[];
}

/** Serves the page. The ticket is valid, and a POST comes from the page itself. */
export async function serveApproval(
  core: Core,
  door: Doorkeeping,
  request: Request,
  ticket: Ticket,
  ticketText: string,
): Promise<Response> {
  const says = (status: number, title: string, text: string) =>
    html(status, messagePage(core.name, title, text));
  if (door.authorize === undefined) {
    core.logger.warn(
      "The page of an approval cannot tell who decides. Pass parley({ pages: { authorize } }), or use app.decide.",
    );
    return says(403, "This page cannot tell who you are", "Ask whoever runs this server.");
  }
  const visitor = await visitorAt(door, request);
  if (visitor instanceof Response) return unkept(visitor);
  if (visitor === undefined) {
    return says(403, "You may not see this page", "Sign in, and open the link again.");
  }
  const member: Member = { who: visitor.principal, groups: visitor.groups ?? [] };
  checkPerson(ticket.principal, member.who);
  const found = await approvalOf(core, ticket);
  if (found.status === "open" && !mayDecide(found, member)) {
    return found.task.principal === member.who
      ? says(403, "You have asked for this yourself", "Someone else has to decide.")
      : says(
          403,
          "This is for others to decide",
          "You are not a member of the group that decides.",
        );
  }
  if (request.method !== "POST") {
    return found.status === "open" ? show(core, found, member) : closed(core, found, member);
  }
  if (found.status === "not_yet") return closed(core, found, member);
  const sent = await sentIn(request);
  const action = sent?.get("action");
  const note = sent?.get("note")?.trim() ?? "";
  const isKnown = action === actions.accept || action === actions.decline;
  if (sent === undefined || !isKnown || note.length > mostNote) {
    return says(413, "Not sent", "The note is too long, or was not sent by this form.");
  }
  const digest = sent.get("digest") ?? "";
  if (found.status === "open" && digest !== found.digest) {
    return show(core, found, member, "The request has changed. Nothing was sent yet.");
  }
  const approve = action === actions.accept;
  // A decision that is too late is recorded as such.
  const decided = await decideOn(core, ticket, { ...member, approve, note, via: "link", digest });
  if (decided.status === "already_decided") {
    const twice = decidedTwice(core, decided.decisions, member);
    if (twice !== undefined) return twice;
  }
  if (found.status !== "open") return closed(core, found, member);
  // To the public address, never to where the Host header points. The page then shows how the approval stands.
  const base = core.publicUrl()?.href.replace(/\/$/, "") ?? "";
  return new Response(undefined, {
    status: 303,
    headers: { ...safe, location: `${base}/ask/${ticketText}` },
  });
}

/** For someone whose decision does not count, because it is the second. Undefined for anyone else. */
function decidedTwice(
  core: Core,
  decisions: readonly Pick<Decision, "who" | "isApproved">[],
  { who }: Member,
): Response | undefined {
  const first = decisions.find((one) => one.who === who);
  if (first === undefined) return undefined;
  const title = `You had already ${first.isApproved ? "approved" : "declined"} this`;
  return html(409, messagePage(core.name, title, "Your second decision was not counted."));
}

async function approvalOf(core: Core, { callId, key }: Ticket): Promise<FoundApproval> {
  await core.tasks?.ready();
  return (
    (await fromStore(core.tasks?.approvals.find(callId, key) ?? Promise.resolve(gone))) ?? gone
  );
}

const gone: FoundApproval = { status: "gone" };

function show(core: Core, found: OpenApproval, { who }: Member, error?: string): Response {
  const { message, about, approval } = shownIn(found);
  const decisions = found.decisions.map(asDecision);
  const page = approvalPage({
    from: core.name,
    message,
    about,
    decisions,
    needs: approval?.of ?? 1,
    form: decisions.some((one) => one.who === who) ? undefined : { digest: found.digest, mostNote },
    error,
  });
  return html(error === undefined ? 200 : 422, page);
}

function closed(
  core: Core,
  found: Exclude<FoundApproval, OpenApproval>,
  { who }: Member,
): Response {
  if (found.status === "not_yet") {
    const page = html(
      200,
      messagePage(core.name, "One moment", "This page is not ready yet. It loads again by itself."),
    );
    page.headers.set("refresh", "2");
    return page;
  }
  if (found.status !== "decided") {
    return html(410, messagePage(core.name, "Too late", "This is no longer asked for."));
  }
  const last = found.decisions.at(-1);
  const title = last?.isApproved === true ? "Approved" : "Declined";
  // Only those who took part are told by whom and why.
  const isOwn = found.decisions.some((one) => one.who === who);
  if (!isOwn) return html(200, messagePage(core.name, title, "Nothing more is needed."));
  const decisions = found.decisions.map(asDecision);
  return html(200, approvalPage({ from: core.name, message: title, decisions }));
}
