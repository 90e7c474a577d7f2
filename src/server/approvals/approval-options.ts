// What `ctx.approve` takes and returns.

import type { Decision } from "../../errors.ts";
import type { Notice } from "../context/notice.ts";
import type { About } from "../pages/page-question.ts";

/** The options of `ctx.approve`, if the caller approves. */
export interface ApproveOptions {
  /** What is shown beside the question, such as `{ Amount: "$500", To: "ACME" }`. At most 4 KiB. Default: nothing. */
  readonly about?: About | undefined;
  /** How long to wait, in milliseconds. `approve` then throws `UnansweredError` with the reason "timed_out". Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /**
   * If the client offers nothing better, the model may ask in the chat and pass the answer on. The model's word is then the
   * only proof, so this has no effect over HTTP for callers who are not verified. Default: false.
   */
  readonly relay?: boolean | undefined;
}

/** The options of `ctx.approve`, if a group approves. */
export interface GroupApproveOptions extends Omit<ApproveOptions, "relay"> {
  /** The group whose members decide, as `pages.authorize` or `app.decide` names it. The caller never decides. */
  readonly by: string;
  /** How many of them must agree. One refusal ends it. Default: 1. */
  readonly of?: number | undefined;
  /**
   * Passes the address of the page, or the ticket, on to the group. It runs once, as a step does. If it throws, it is called
   * again, twice at most, with the same `idempotencyKey`. Default: nobody is told, and the console shows the approval.
   */
  readonly notify?: ((notice: Notice) => unknown) | undefined;
}

/** An approval that was given. */
export interface Approval {
  /** Who agreed, in the order in which they did. */
  readonly decisions: readonly Decision[];
}
