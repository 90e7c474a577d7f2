// `ctx.approve`: asks the caller, or lets a group decide and tells it once.

import { ParleyError } from "../../errors.ts";
import type { Operations, QuestionSpec, StepInfo } from "../../replay/operations.ts";
import { HandlerPromise } from "../../replay/promises.ts";
import type { Question } from "../../replay/promises.ts";
import type { QuestionParams } from "../context/questions.ts";
import { joined, notified, notifyRetries, WaitNotice } from "../context/notice.ts";
import { checkedAbout } from "../pages/page-question.ts";
import type { Approval, ApproveOptions, GroupApproveOptions } from "./approval-options.ts";
import { callerQuestion, decidersOf, groupQuestion } from "./approval-question.ts";
import type { Deciders } from "./approval-question.ts";

/** What an approval needs to know of its call. Written out, because `ctx` imports this file. */
interface ApprovalFacts {
  readonly principal: string | undefined;
  readonly mayBecomeTask: boolean;
  readonly can: (ability: "task") => boolean;
  readonly now: () => number;
  readonly ticket: (
    kind: "approval",
    key: string,
    timeoutMs: number | undefined,
    digest: string | undefined,
  ) => string;
  readonly pageAddress: (ticket: string) => string | undefined;
  readonly published: (key: string, signal: AbortSignal) => Promise<void>;
  readonly keepsDecisions: () => boolean;
}

interface Asker {
  readonly askAs: <T>(
    verb: string,
    key: string,
    options: Pick<QuestionParams, "timeoutMs" | "relay" | "isConfirmation">,
    make: (question: QuestionParams) => QuestionSpec,
  ) => Question<T>;
}

/** Whichever of the options are given. */
type AnyApproveOptions = ApproveOptions & {
  readonly [Option in keyof GroupApproveOptions]?: GroupApproveOptions[Option] | undefined;
};

/** Asks for an approval. */
export function approve(
  ctx: Asker,
  operations: Operations,
  facts: ApprovalFacts,
  key: string,
  message: string,
  { by, of, notify, about, timeoutMs, relay }: AnyApproveOptions = {},
  isOwn = false,
): Question<Approval> {
  const asked = { timeoutMs, ...(by === undefined ? { relay, isConfirmation: true } : {}) };
  // Nobody is told of an approval that cannot be asked for.
  let isRefused = false;
  let digest: string | undefined;
  const question = ctx.askAs<Approval>("approve", key, asked, (params) => {
    isRefused = true;
    const deciders = decidersOf(key, { by, of });
    const told = checkedAbout(key, about);
    if (deciders === undefined) {
      const now = () => facts.now();
      return { ...callerQuestion(params, message, told, facts.principal, now), isOwn };
    }
    checkGroup(facts, key, deciders);
    isRefused = false;
    const spec = groupQuestion(params, message, told, deciders);
    ({ digest } = spec);
    return { ...spec, isOwn };
  });
  if (by === undefined || notify === undefined || isRefused) return question;
  const body = async (step: StepInfo) => {
    // Not for a question that fails at once, because this client cannot follow the task that would wait.
    if (!facts.can("task")) return;
    // If the worker that told the group was lost before this was recorded, the group may have decided already. Then the store
    // never shows the approval again, and there is nobody to tell.
    let isOver = false;
    const over = HandlerPromise.settled(question).then(() => {
      isOver = true;
    });
    // The ticket leaves only when the store has the approval, so that whoever gets it can decide.
    await Promise.race([facts.published(key, step.signal), over]);
    if (isOver) return;
    // Whoever decides with the ticket alone decides about what the group is told now.
    const ticket = facts.ticket("approval", key, timeoutMs, digest);
    await notified(notify, new WaitNotice(key, ticket, facts.pageAddress(ticket), step));
  };
  return joined(question, operations.aside(key, body, notifyRetries));
}

/** Whether a key is that of a gate or of a tool's own approval. Authors' keys have no `~`. */
export const isRuleKey = (key: string): boolean => /^~(?:gate\/|approve)/.test(key);

/** The key under which the engine records that a group was told. */
export const asideKey = (key: string): string => `${key}~aside`;

function checkGroup(facts: ApprovalFacts, key: string, { by }: Deciders): void {
  if (!facts.mayBecomeTask) {
    throw new ParleyError(
      "bad_option",
      `Approval "${key}" asks the group "${by}", and only a tool that may become a task can wait for it. Add task: "optional" to this tool's config.`,
    );
  }
  if (!facts.keepsDecisions()) {
    throw new ParleyError(
      "bad_option",
      `Approval "${key}" asks the group "${by}", but the store of this app does not keep decisions. Use a store that has approvals.`,
    );
  }
  if (facts.principal !== undefined) return;
  throw new ParleyError(
    "no_principal",
    `Approval "${key}" asks the group "${by}", but this call has no principal, so nobody can be kept from approving their own request. Pass parley({ principal }).`,
  );
}
