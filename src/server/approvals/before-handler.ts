// Asks for the approvals that a call needs before its handler runs. A tool without any pays nothing for it.
//
// A decision that is recorded counts in every later run, whatever the rule says by then. A rule that is added while a call is
// under way does not apply to it: the handler has begun.

import type { HandlerContext } from "../context/handler-context.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { isAnswer } from "../../replay/journal.ts";
import type { AnswerEntry, Journal } from "../../replay/journal.ts";
import type { Operations } from "../../replay/operations.ts";
import { recordedApproval } from "./approval-question.ts";
import { approve, asideKey, isRuleKey } from "./approve.ts";
import type { NamedRule } from "./rules.ts";

/** Calls the handler of a definition, after the approvals that the call needs. */
export function invoke(
  core: Pick<Core, "gates">,
  definition: Definition,
  input: unknown,
  ctx: HandlerContext,
  operations: Operations,
): unknown {
  const isFree = core.gates.isEmpty && definition.approval === undefined;
  return isFree && !hasRecorded(operations.journal())
    ? definition.invoke(input, ctx)
    : invokeApproved(core, definition, input, ctx);
}

/** Whether the call has passed a rule, which may be gone by now. What is asked before the handler is recorded before it. */
const hasRecorded = ({ entries: [first] }: Journal): boolean =>
  first !== undefined && isRuleKey(first.key);

async function invokeApproved(
  { gates }: Pick<Core, "gates">,
  definition: Definition,
  input: unknown,
  ctx: HandlerContext,
): Promise<unknown> {
  const { operations, facts } = ctx.engine;
  const { name, approval } = definition;
  const rules = [...gates.of(definition), ...(approval === undefined ? [] : [approval])];
  const journal = operations.journal();
  await passRecorded(ctx, journal);
  gates.check(definition);
  const caller = {
    tool: name,
    principal: facts.principal,
    authInfo: facts.request?.authInfo,
  };
  for (const rule of rules) {
    if (!isLeft(rule, journal, facts.hasBegunByHand)) continue;
    const asked = rule.ask(input, caller);
    if (asked === undefined) continue;
    const { message, ...options } = asked;
    await approve(ctx, operations, facts, rule.key, message, options, true);
  }
  return definition.invoke(input, ctx);
}

/** Requests what is recorded, in the order of the record, so that the engine can go on from there. */
async function passRecorded(ctx: HandlerContext, { entries }: Journal): Promise<void> {
  const recorded = entries.filter(
    (entry): entry is AnswerEntry => isAnswer(entry) && isRuleKey(entry.key),
  );
  for (const { key, digest } of recorded) {
    const wasTold = entries.some((entry) => entry.key === asideKey(key));
    const told = wasTold ? ctx.engine.operations.aside(key, () => undefined) : undefined;
    await Promise.all([ctx.askAs("approve", key, {}, () => recordedApproval(key, digest)), told]);
  }
}

/** Whether a rule still has to be asked about. It does not apply to a call whose handler has begun without it. */
function isLeft({ key }: NamedRule, { entries, out }: Journal, hasBegunByHand: boolean): boolean {
  if (entries.some((entry) => entry.key === key && isAnswer(entry))) return false;
  if (out.some((one) => one.key === key)) return true;
  return !hasBegunByHand && [...entries, ...out].every((one) => isRuleKey(one.key));
}
