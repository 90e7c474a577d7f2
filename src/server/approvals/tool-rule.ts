// `approve` in a tool's config.

import { ParleyError } from "../../errors.ts";
import type { HandlerArgs } from "../define/arguments.ts";
import type { Missing } from "../define/missing.ts";
import { namedRule } from "./rules.ts";
import type { ApprovalRule, Caller, NamedRule } from "./rules.ts";

/** `approve` in a tool's config. The short form is a function that returns the message, or undefined if this call needs no approval. */
export type ToolApproval<In, T> =
  | ((...args: HandlerArgs<In, Caller>) => string | undefined)
  | ApprovalRule<
      HandlerArgs<In, Caller>,
      [T] extends [string] ? string : Missing<"task: 'optional' in this tool's config">
    >;

/** The rule of a tool. Throws ParleyError "bad_option" if it asks a group and the tool cannot wait. */
export function toolRule<In, T>(
  tool: string,
  approval: ToolApproval<In, T>,
  hasArguments: boolean,
  task: string | undefined,
): NamedRule {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `argsOf` gives its functions what they take
  const rule = (typeof approval === "function" ? { message: approval } : approval) as ApprovalRule<
    // oxlint-disable-next-line typescript/no-explicit-any -- likewise
    readonly any[],
    string
  >;
  if (rule.by !== undefined && task === undefined) {
    throw new ParleyError(
      "bad_option",
      `Tool "${tool}" asks the group "${rule.by}" for approval and has no task in its config. Add task: "optional".`,
    );
  }
  return namedRule("~approve", rule, (input, caller) =>
    hasArguments ? [input, caller] : [caller],
  );
}
