// The pages of the questions that a round leaves open: each has a slot in the mailbox, and a ticket.

import type { Open } from "../../replay/outcome.ts";
import { isShown } from "../context/questions.ts";
import type { Core } from "../core.ts";
import { keepQuestion } from "../pages/mailbox.ts";
import { pageTicket } from "../pages/page-address.ts";
import type { Call } from "./call.ts";
import type { OpenWait } from "./state.ts";

/** What is open after a round, and the tickets of those questions that have a page. */
export interface OpenPages {
  readonly out: readonly OpenWait[];
  readonly tickets: ReadonlyMap<string, string>;
}

/** Whether a page brings the answer to one of these. */
export const havePages = (open: readonly Open[]): boolean =>
  open.some(({ shown }) => isShown(shown) && shown.page !== undefined);

/**
 * Keeps the questions for their pages. A question that is asked again keeps its slot and the links to it, unless the slot
 * is used up: the page brought an answer, and it did not fit.
 */
export async function openPages(
  core: Core,
  call: Call,
  open: readonly Open[],
  waits: readonly OpenWait[],
): Promise<OpenPages> {
  const { principal } = call.binding();
  const tickets = new Map<string, string>();
  const out: OpenWait[] = [];
  for (const [index, wait] of waits.entries()) {
    const shown = open[index]?.shown;
    const page = isShown(shown) ? shown.page?.() : undefined;
    if (page === undefined) {
      out.push(wait);
      continue;
    }
    const { key, digest = "", dueAt } = wait;
    const before = call.journal.out.find((one) => one.key === key);
    const isUsedUp = call.mailed.has(key) || before?.digest !== wait.digest;
    const asked = (before?.asked ?? 0) + (before === undefined || isUsedUp ? 1 : 0);
    const of = { callId: call.id(), key, digest, asked: Math.max(asked, 1) };
    const now = core.environment.now();
    // A paused call is kept for longer than a token.
    const isPaused = isShown(shown) && shown.pausingWay !== undefined;
    const keptMs = isPaused ? core.limits.pauseMs : core.limits.tokenTtlMs;
    const ttlMs = Math.max(keptMs, (dueAt ?? now) - now);
    await keepQuestion(core, of, { ...page, dueAt }, principal, ttlMs);
    tickets.set(key, pageTicket(core, of, principal, now + ttlMs));
    out.push({ ...wait, asked: of.asked });
  }
  return { out, tickets };
}
