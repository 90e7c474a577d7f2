// Decisions about approvals by a group: `app.decide`, the page and the console come here.

import { ParleyError } from "../../errors.ts";
import type { Decision } from "../../errors.ts";
import type { FoundApproval, OpenApproval } from "../../tasks/approvals.ts";
import { shortId } from "../../util/short-id.ts";
import { sealTicket } from "../../token/ticket.ts";
import type { Ticket } from "../../token/ticket.ts";
import type { Core } from "../core.ts";
import type { About, PageQuestion } from "../pages/page-question.ts";
import { readTicket } from "../pages/ticket-facts.ts";
import { fromStore, noStore } from "../tasks/store-needed.ts";
import { asDecision } from "./approval-question.ts";
import { checkPerson } from "./people.ts";
import { auditDecision, auditLate } from "./decision-audit.ts";

/** One person's decision, for `app.decide`. */
export interface DecideInput {
  /**
   * The person: the same text that `parley({ principal })` gives for their calls. It keeps people from deciding on their own
   * requests, or twice.
   */
  readonly who: string;
  /** The groups that the person belongs to now. */
  readonly groups: readonly string[];
  /** Whether the person agrees. */
  readonly approve: boolean;
  /** Why, for whoever reads it later. At most 2,000 characters. */
  readonly note?: string | undefined;
}

/** What became of a decision. */
export interface DecideResult {
  /**
   * "counted": more people must agree. "approved" and "declined": this decision completed the outcome. "already_decided": this
   * person has decided before, or the outcome was complete. "not_allowed": the caller, or someone outside the group. "changed":
   * something else is asked now than when the ticket was made, because another version of the app runs; see `asked`. "gone":
   * the call has ended, or the time limit of the approval has passed.
   */
  readonly status:
    | ("counted" | "approved" | "declined")
    | ("already_decided" | "not_allowed" | "changed" | "gone");
  /** What has been decided so far. It is empty for people who may not decide, and who come too late and have not decided. */
  readonly decisions: readonly Decision[];
  /** Only with the status "changed". */
  readonly asked?: ChangedApproval | undefined;
}

/** An approval that is worded otherwise than the person saw it. Show it, and decide with this ticket. */
export interface ChangedApproval {
  /** What is asked now. */
  readonly message: string;
  /** What is shown beside it now. */
  readonly about?: About | undefined;
  /** The ticket for this wording. */
  readonly ticket: string;
}

/** The most characters of a note. */
export const mostNote = 2_000;

/** Records the decision that a ticket allows. */
export async function decide(
  core: Core,
  ticket: string,
  input: DecideInput,
): Promise<DecideResult> {
  const opened = readTicket(core, ticket);
  if (opened.kind !== "approval") {
    throw new ParleyError(
      "bad_ticket",
      "This ticket is for a value. Use app.deliver(ticket, value).",
    );
  }
  checkInput(input);
  checkPerson(opened.principal, input.who);
  const { digest } = opened;
  const { changed, ...result } = await decideOn(core, opened, {
    ...input,
    via: "delivery",
    digest,
  });
  if (changed === undefined) return result;
  const { message, about } = shownIn(changed);
  const renewed = sealTicket({ ...opened, digest: changed.digest }, core.keyring());
  return {
    ...result,
    asked: { message, ...(about === undefined ? {} : { about }), ticket: renewed },
  };
}

/** For JavaScript authors: anything that is not a refusal must not count as an approval. */
function checkInput({ who, groups, approve, note = "" }: DecideInput): void {
  if (typeof who !== "string" || who === "" || who.length > 200) {
    throw new ParleyError(
      "bad_option",
      "app.decide: who is the name of one person, from 1 to 200 characters.",
    );
  }
  if (!Array.isArray(groups) || typeof approve !== "boolean") {
    throw new ParleyError(
      "bad_option",
      "app.decide takes { who, groups: […], approve: true or false }.",
    );
  }
  if (typeof note === "string" && note.length <= mostNote) return;
  throw new ParleyError("bad_option", `app.decide: note has at most ${mostNote} characters.`);
}

/** A decision, and how it came. */
export interface Deciding extends DecideInput {
  readonly via: Decision["via"];
  /** The digest of the approval as the person saw it. If it is another one now, nothing is decided. */
  readonly digest?: string | undefined;
}

/** An approval as `ctx.approve` showed it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the task, which made it
export const shownIn = ({ page }: OpenApproval): PageQuestion => page as unknown as PageQuestion;

/** Whether this person may decide: a member of the group who is not the caller. */
export function mayDecide(
  found: OpenApproval,
  { who, groups }: Pick<DecideInput, "who" | "groups">,
): boolean {
  const by = shownIn(found).approval?.by;
  return by !== undefined && groups.includes(by) && who !== found.task.principal;
}

/** What became of a decision, and the approval as it stands, if this person has seen another wording. */
type Outcome = Omit<DecideResult, "asked"> & { readonly changed?: OpenApproval | undefined };

/** Records a decision on the approval of a ticket. */
export async function decideOn(
  core: Core,
  { callId, key }: Pick<Ticket, "callId" | "key">,
  deciding: Deciding,
): Promise<Outcome> {
  let task: FoundApproval["task"];
  const result = await fromStore(
    attempts(core, callId, key, deciding, (found) => (task = found.task)),
  );
  const { status } = result;
  core.logger.info(`A decision on "${key}" by ${deciding.who}: ${status}`, {
    call: callId,
    ...(task && { task: shortId(task.id) }),
    key,
    who: deciding.who,
    outcome: status,
  });
  return result;
}

async function attempts(
  core: Core,
  callId: string,
  key: string,
  deciding: Deciding,
  onFound: (found: FoundApproval) => void,
): Promise<Outcome> {
  const { tasks } = core;
  if (tasks === undefined) throw noStore("app.decide()");
  await tasks.ready();
  const { who, approve: isApproved, note, via, digest } = deciding;
  const of = { callId, key, deciding };
  let found: FoundApproval = { status: "gone" };
  // Tries again if the approval was decided, or asked for anew, between the read and the decision.
  for (let tries = 0; tries < 3; tries += 1) {
    found = await tasks.approvals.find(callId, key);
    onFound(found);
    if (found.status === "decided") {
      await auditLate(core, of, found);
      // A closed approval no longer says who could have decided, so only those who took part are told by whom and why.
      const isOwn = found.decisions.some((one) => one.who === who);
      return {
        status: "already_decided",
        decisions: isOwn ? found.decisions.map(asDecision) : [],
      };
    }
    if (found.status !== "open") break;
    if (!mayDecide(found, deciding)) return { status: "not_allowed", decisions: [] };
    if (digest !== undefined && digest !== found.digest) {
      await auditLate(core, of, found);
      return { status: "changed", decisions: found.decisions.map(asDecision), changed: found };
    }
    const decision = { who, isApproved, via, ...(note ? { note } : {}) };
    const { kind, decisions: all } = await tasks.approvals.decide(found, decision);
    if (kind === "closed") continue;
    const decisions = all.map(asDecision);
    if (kind === "repeated") {
      await auditLate(core, of, found);
      return { status: "already_decided", decisions };
    }
    await auditDecision(core, of, found, all.at(-1)?.at);
    const outcome = isApproved ? "approved" : "declined";
    return { status: kind === "counted" ? "counted" : outcome, decisions };
  }
  await auditLate(core, of, found);
  return { status: "gone", decisions: [] };
}
