// What the tokens say that this process has sealed a moment ago. Many clients answer within seconds, and to the process that
// asked: it then takes the claims from here, and decrypts nothing. Everything else about a token is checked as usual.
//
// A token is found only if it is the same to the last character, so this opens nothing that the keys would not open. What
// is here is forgotten when it is used, or when newer tokens need the room.

import { RecentTexts } from "../util/recent-texts.ts";
import type { Claims } from "./claims.ts";

/** What a token says. */
interface Kept {
  readonly claims: Claims<unknown>;
  /** The state, if it was kept as text. The claims have none then. */
  readonly stateText: string | undefined;
}

/** What tokens say, by their text. */
export type RecentTokens = RecentTexts<Kept>;

/** What is kept of claims. Their state as it is, or its text. */
export function kept(claims: Claims<unknown>, stateText: string | undefined): Kept {
  if (stateText === undefined || claims.state.kind === "spilled") {
    return { claims, stateText: undefined };
  }
  return { claims: { ...claims, state: nothing }, stateText };
}

const nothing = { kind: "inline", value: undefined } as const;

/** The claims, with their state. */
export function claimsIn<S>({ claims, stateText }: Kept): Claims<S> {
  const whole: Claims<unknown> =
    stateText === undefined
      ? claims
      : { ...claims, state: { kind: "inline", value: JSON.parse(stateText) } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as for a token that is decrypted
  return whole as Claims<S>;
}

/** For one keyring: the tokens of others must not be found here. */
export const recentTokens = (): RecentTokens =>
  new RecentTexts({ mostLength: 512 * 1024, longest: 16 * 1024 });
