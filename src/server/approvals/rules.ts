// Approvals that are asked for before a handler runs: `approve` in a tool's config, and gates over many tools.

import type { AuthInfo } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { Notice } from "../context/notice.ts";
import type { About } from "../pages/page-question.ts";
import { decidersOf } from "./approval-question.ts";

/** Who calls what. */
export interface Caller {
  /** The name of the tool. */
  readonly tool: string;
  /** The user who is calling. Undefined without credentials. */
  readonly principal: string | undefined;
  /** The verified credentials of the caller. Undefined without authentication, and in a task. */
  readonly authInfo: AuthInfo | undefined;
}

/** A call as a gate sees it. */
export interface GatedCall extends Caller {
  /** The arguments, as the tool's schema returned them. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** When to ask, whom, and what. `message` and `about` must depend on what they get alone: they are computed in every round. */
export interface ApprovalRule<Args extends readonly unknown[], By> {
  /** What is asked. A function may return undefined: this call needs no approval. */
  readonly message: string | ((...args: Args) => string | undefined);
  /** What is shown beside the question. Default: nothing. */
  readonly about?: About | ((...args: Args) => About) | undefined;
  /** Passes the address of the page, or the ticket, on to the group. */
  readonly notify?: ((notice: Notice, ...args: Args) => unknown) | undefined;
  /** How long to wait, in milliseconds. The call then ends. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** How many members of the group must agree. Default: 1. */
  readonly of?: number | undefined;
  /** The group whose members decide. Default: the caller decides. */
  readonly by?: By | undefined;
}

/** An operator's rule over many tools. */
export type Gate = {
  /** The names of the tools. `*` stands for any text. */
  readonly tools: readonly string[];
} & ApprovalRule<[call: GatedCall], string>;

/** A rule as it is applied to one tool. */
export interface NamedRule {
  /** "~gate/<name>" or "~approve". */
  readonly key: string;
  /** What is asked about this call. Undefined if it needs no approval. */
  readonly ask: (input: unknown, caller: Caller) => AskedRule | undefined;
}

/** What a rule asks about one call. */
interface AskedRule {
  readonly message: string;
  readonly about?: About | undefined;
  readonly notify?: ((notice: Notice) => unknown) | undefined;
  readonly timeoutMs?: number | undefined;
  readonly of?: number | undefined;
  readonly by?: string | undefined;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the rule's own type says what its functions take
type AnyRule = ApprovalRule<readonly any[], string>;

/** A rule with the arguments that its functions take. Throws ParleyError "bad_option" for options that contradict each other. */
export function namedRule(
  key: string,
  rule: AnyRule,
  argsOf: (input: unknown, caller: Caller) => readonly unknown[],
): NamedRule {
  decidersOf(key, rule);
  const { message, about, notify, timeoutMs, of, by } = rule;
  return {
    key,
    ask: (input, caller) => {
      const args = argsOf(input, caller);
      const asked: unknown = typeof message === "function" ? message(...args) : message;
      if (asked === undefined) return undefined;
      // Anything else, such as an empty text or the promise of an async function, must not let the call pass unasked.
      if (typeof asked !== "string" || asked === "") {
        throw new ParleyError(
          "bad_option",
          `Approval "${key}" of tool "${caller.tool}" has no message to show. Return a text, or undefined if this call needs no approval.`,
        );
      }
      return {
        message: asked,
        about: typeof about === "function" ? about(...args) : about,
        notify: notify && ((notice) => notify(notice, ...args)),
        timeoutMs,
        of,
        by,
      };
    },
  };
}
