// Who looks at the console, and what this person may do there.

/** A person at the console, as `authorize` names them. */
export interface Operator {
  /**
   * The person: the same text that `parley({ principal })` gives for their calls. It keeps people from deciding on their own
   * requests, or twice. It is in the audit record, and other operators may see it.
   */
  readonly who: string;
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
  /** In development one person is everyone. */
  readonly isInEveryGroup?: boolean | undefined;
}

/** The operator that `authorize` returned. Throws a TypeError if it is not one, because a slip must not open anything. */
export function checkedOperator(given: unknown): Admitted {
  const { who, groups, may, values = false } = isRecord(given) ? given : {};
  const isValid =
    typeof who === "string" &&
    who !== "" &&
    Array.isArray(groups) &&
    groups.every((group) => typeof group === "string") &&
    (may === "look" || may === "act" || may === "act_for_client");
  if (isValid) return { who, groups: [...groups], may, values: values === true };
  throw new TypeError(
    'operatorConsole: authorize must return { who, groups, may: "look" | "act" | "act_for_client" }, a Response, or undefined.',
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Whether an operator may do what needs this permission. */
export const isPermitted = ({ may }: Admitted, needed: Operator["may"]): boolean =>
  ranks.indexOf(may) >= ranks.indexOf(needed);

const ranks: readonly Operator["may"][] = ["look", "act", "act_for_client"];
