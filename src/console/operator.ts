// Who looks at the console, and what this person may do there.

import { whyNoPrincipal } from "../server/approvals/people.ts";

/** A person at the console, as `authorize` names them. */
export interface Operator {
  /** The person. It is in the audit record, and other operators may see it. */
  readonly who: string;
  /**
   * The same text that `parley({ principal })` gives for this person's calls. It keeps people from deciding on their own
   * requests, or twice, and decisions are recorded under it. Default: none, and the person cannot decide about approvals.
   */
  readonly principal?: string | undefined;
  /** The groups whose approvals and waits this person may answer. */
  readonly groups: readonly string[];
  /**
   * "look": see everything and change nothing. "act": also cancel tasks, and answer approvals and waits of one's own groups.
   * "act_for_client": also answer what a client was asked, in its place.
   */
  readonly may: "look" | "act" | "act_for_client";
  /** Shows arguments, answers and results. Default: false. */
  readonly values?: boolean | undefined;
}

/** An operator whose members have been checked. */
export interface Admitted extends Operator {
  readonly values: boolean;
  /** Of a person who is a member of every group, as in development. */
  readonly isInEveryGroup?: boolean | undefined;
  /** In development one person is everyone but the caller. */
  readonly isAnyone?: boolean | undefined;
}

/** The operator that `authorize` returned. Throws a TypeError if it is not one, because a slip must not open anything. */
export function checkedOperator(given: unknown): Admitted {
  const { who, principal, groups, may, values = false } = isRecord(given) ? given : {};
  const isValid =
    typeof who === "string" &&
    who !== "" &&
    (principal === undefined || (typeof principal === "string" && principal !== "")) &&
    Array.isArray(groups) &&
    groups.every((group) => typeof group === "string") &&
    (may === "look" || may === "act" || may === "act_for_client");
  if (isValid) return { who, principal, groups: [...groups], may, values: values === true };
  throw new TypeError(
    'operatorConsole: authorize must return { who, principal, groups, may: "look" | "act" | "act_for_client" }, a Response, or undefined.',
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Whether an operator may do what needs this permission. */
export const isPermitted = ({ may }: Admitted, needed: Operator["may"]): boolean =>
  ranks.indexOf(may) >= ranks.indexOf(needed);

const ranks: readonly Operator["may"][] = ["look", "act", "act_for_client"];

/** Why this person may not decide about the approvals of a caller. Undefined if they may. */
export function whyMayNotDecide(operator: Admitted, caller: string): string | undefined {
  const { principal, isAnyone = false } = operator;
  if (principal === undefined) return noPrincipal;
  return isAnyone ? undefined : whyNoPrincipal(caller, principal);
}

const noPrincipal =
  "The console does not know under which principal you call, so it cannot tell whether this is your own request. Ask the person who runs it to return principal from authorize of operatorConsole: the text that parley({ principal }) gives for your calls. With the command parley console, it is --principal.";
