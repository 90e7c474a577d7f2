// A call as one of its rounds sees it: what the token brought, what the request added.

import { answerMap } from "../protocol/answers.ts";
import { Inbox } from "../replay/inbox.ts";
import type { InboxEvent } from "../replay/inbox.ts";
import type { Json } from "../replay/json.ts";
import { digest } from "../token/canonical.ts";
import type { Binding } from "../token/claims.ts";
import { TokenError } from "../token/errors.ts";
import { open } from "../token/open.ts";
import { abilitiesOf } from "./ability.ts";
import type { Ability } from "./ability.ts";
import type { Core } from "./core.ts";
import type { RoundRequest } from "./round.ts";
import { unpackState } from "./state.ts";
import type { CallState, PackedState, PutOut } from "./state.ts";

export interface Call {
  /** Made when it is first needed: a call that neither asks nor steps has no use for one. */
  readonly id: () => string;
  readonly round: number;
  readonly roundsLeft: number;
  /** What a token is good for: this request of this caller to this server. Made when a token is. */
  readonly binding: () => Binding;
  readonly abilities: readonly Ability[];
  readonly state: Pick<CallState, "entries" | "out">;
  readonly inbox: Inbox;
}

/** Throws TokenError for a requestState that does not belong here, RangeError for arguments too deep to digest. */
export function openCall(core: Core, request: RoundRequest): Call {
  const answers = answerMap(request.inputResponses);
  if (answers === undefined) throw new MalformedAnswers();
  if (request.requestState === undefined) return firstRound(core, request, answers);
  const { environment, limits } = core;
  const binding = bindingOf(core, request);
  const claims = open<PackedState>(request.requestState, core.keyring(), {
    ...binding,
    now: environment.now(),
    maxBytes: limits.tokenBytes,
  });
  if (claims.state.kind === "spilled") throw new TokenError("malformed");
  const state = readState(claims.state.value);
  return {
    id: () => claims.callId,
    round: claims.round + 1,
    roundsLeft: claims.roundsLeft - 1,
    binding: () => binding,
    abilities: state.abilities,
    state,
    inbox: new Inbox([...state.unused, ...events(state.out, answers, environment.now())]),
  };
}

/** Of the wrong structure altogether; an answer that merely does not fit is asked for again. */
export class MalformedAnswers extends Error {
  constructor() {
    super("Malformed inputResponses: expected an object whose members are results");
    this.name = "MalformedAnswers";
  }
}

function bindingOf(core: Core, request: RoundRequest): Binding {
  return {
    method: request.method,
    target: request.target,
    argumentsDigest: digest(request.arguments ?? {}),
    principal: request.principal,
    audience: core.name,
  };
}

function firstRound(core: Core, request: RoundRequest, answers: ReadonlyMap<string, object>): Call {
  let id: string | undefined;
  let binding: Binding | undefined;
  const bind = () => (binding ??= bindingOf(core, request));
  // Arguments too deep to digest are refused before anything runs, not when the first question comes up.
  if (hasNested(request.arguments)) bind();
  return {
    id: () => (id ??= core.environment.newId()),
    round: 1,
    roundsLeft: core.limits.rounds - 1,
    binding: bind,
    abilities: abilitiesOf(request.capabilities),
    state: { entries: [], out: [] },
    inbox: new Inbox(events([], answers, core.environment.now())),
  };
}

function hasNested(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((member) => typeof member === "object" && member !== null);
}

function readState(packed: PackedState): CallState {
  try {
    return unpackState(packed);
  } catch {
    throw new TokenError("malformed");
  }
}

/** In the order in which the questions were asked; an expired one expires before its late answer (R7). */
function events(
  out: readonly PutOut[],
  answers: ReadonlyMap<string, object>,
  now: number,
): InboxEvent[] {
  const found: InboxEvent[] = [];
  for (const { key, digest: put, dueAt } of out) {
    if (dueAt !== undefined && dueAt <= now) found.push({ kind: "due", key });
    const value = answers.get(key);
    if (value !== undefined) found.push({ kind: "answer", key, value: json(value), digest: put });
  }
  const known = new Set(out.map(({ key }) => key));
  for (const [key, value] of answers) {
    if (!known.has(key)) found.push({ kind: "answer", key, value: json(value), digest: undefined });
  }
  return found;
}

// It was parsed from a request's JSON.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const json = (value: object): Json => value as Json;
