// A run that waits: its questions for the client, and all it was told sealed into the token.

import { ParleyError } from "../../errors.ts";
import { capabilityNeededBy } from "../../protocol/capabilities.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import type { Open, Outcome } from "../../replay/outcome.ts";
import type { Entry } from "../../replay/journal.ts";
import type { State } from "../../token/claims.ts";
import { TokenTooLarge } from "../../token/errors.ts";
import { seal } from "../../token/seal.ts";
import type { Call } from "./call.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { hintAtChange, hintAtSize, kib, largestEntries } from "../dev/warnings.ts";
import { accumulated, keptState } from "../context/low-level.ts";
import type { InputRequiredResult, LowLevelState } from "../context/low-level.ts";
import { isShown, Unsupported } from "../context/questions.ts";
import type { RoundResponse } from "./request.ts";
import { spill } from "./spill.ts";
import { packState } from "./state.ts";
import type { CallState, PackedState, PutOut } from "./state.ts";

type Waiting = Extract<Outcome<unknown>, { kind: "waiting" | "yielded" | "detached" }>;

export function suspend(
  core: Core,
  definition: Definition,
  call: Call,
  { entries, open, unused }: Waiting,
): Promise<RoundResponse> {
  hintAtChange(core, definition, call.journal.entries, entries);
  const now = core.environment.now();
  const out = open.map((question) => putOut(question, call.journal.out, now));
  const told = { entries, out, unused, lowLevel: call.lowLevel };
  return ask(core, definition, call, told, open.flatMap(inputRequest));
}

/** The same for a handler that drives the rounds itself. */
export function suspendByHand(
  core: Core,
  definition: Definition,
  call: Call,
  returned: InputRequiredResult,
  entries: readonly Entry[],
): Promise<RoundResponse> {
  if (entries.length > 0) throw mixedStyles(definition.name);
  const inputRequests = Object.entries(returned.inputRequests ?? {});
  for (const [key, request] of inputRequests) {
    const needs = capabilityNeededBy(request);
    if (!call.abilities.includes(needs)) throw new Unsupported(key, needs);
  }
  const answers = accumulated(call.lowLevel, call.answers);
  const lowLevel: LowLevelState = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they came from a request's JSON
    answers: answers as unknown as LowLevelState["answers"],
    state: keptState(definition.name, returned),
    asked: inputRequests.map(([key]) => key),
  };
  return ask(core, definition, call, { entries, out: [], unused: [], lowLevel }, inputRequests);
}

async function ask(
  core: Core,
  definition: Definition,
  call: Call,
  told: Pick<CallState, "entries" | "out" | "unused" | "lowLevel">,
  inputRequests: readonly (readonly [string, InputRequest])[],
): Promise<RoundResponse> {
  if (call.roundsLeft <= 0) throw tooManyRounds(definition.name, core.limits.rounds);
  // Member by member, here and below: spreads are dear, and this is every round.
  const state: CallState = {
    entries: told.entries,
    out: told.out,
    abilities: call.abilities,
    unused: told.unused,
    lowLevel: told.lowLevel,
    inputDigest: call.inputDigest(),
    firstSpan: call.firstSpan,
  };
  const requestState = await sealState(core, definition, call, state);
  hintAtSize(core, definition, call.round, told.entries);
  const resultType = "input_required";
  return {
    kind: resultType,
    result:
      inputRequests.length === 0
        ? { resultType, requestState }
        : { resultType, inputRequests: Object.fromEntries(inputRequests), requestState },
  };
}

/** A question that is put again, unchanged, keeps the time it had. */
function putOut({ key, digest, ms }: Open, before: readonly PutOut[], now: number): PutOut {
  const earlier = before.find((one) => one.key === key && one.digest === digest);
  return { key, digest, dueAt: earlier?.dueAt ?? (ms === undefined ? undefined : now + ms) };
}

function inputRequest({ key, shown, reason }: Open): [string, InputRequest][] {
  return isShown(shown) ? [[key, shown.request(reason)]] : [];
}

async function sealState(
  core: Core,
  definition: Definition,
  call: Call,
  state: CallState,
): Promise<string> {
  const { limits, environment } = core;
  const longestWait = Math.max(0, ...state.out.map(({ dueAt = 0 }) => dueAt));
  // A minute more than the longest question: its answer should meet a timeout, not a refused token.
  const expiresAt = Math.max(environment.now() + limits.tokenTtlMs, longestWait + 60_000);
  const packed = packState(state);
  const { method, target, argumentsDigest, principal, audience } = call.binding();
  const sealed = (held: State<PackedState>) =>
    seal<PackedState>(
      {
        method,
        target,
        argumentsDigest,
        principal,
        audience,
        callId: call.id(),
        round: call.round,
        roundsLeft: call.roundsLeft,
        expiresAt,
        state: held,
      },
      core.keyring(),
      { maxBytes: limits.tokenBytes, deflate: limits.deflate },
    );
  try {
    return sealed({ kind: "inline", value: packed });
  } catch (error) {
    if (!(error instanceof TokenTooLarge)) throw error;
    const pointer = await spill(core, call.id(), packed, expiresAt);
    if (pointer === undefined) throw tooLarge(core, definition.name, error, state.entries);
    return sealed({ kind: "spilled", pointer });
  }
}

function mixedStyles(name: string): ParleyError {
  return new ParleyError(
    "mixed_styles",
    `"${name}" used ctx.ask, ctx.step or the like and returned inputRequired(…). A handler either awaits its questions, or drives the rounds itself with inputRequired, ctx.answers and ctx.state.`,
  );
}

function tooManyRounds(name: string, limit: number): ParleyError {
  return new ParleyError(
    "too_many_rounds",
    `"${name}" has taken ${limit} rounds and asks again. Ask together what can be asked together (Promise.all), or raise parley({ limits: { rounds } }).`,
  );
}

function tooLarge(
  { store }: Core,
  name: string,
  { bytes, limit }: TokenTooLarge,
  entries: readonly Entry[],
): ParleyError {
  const largest = largestEntries(entries)
    .slice(0, 3)
    .map(({ title, bytes: size }) => `${title} ${kib(size)}`);
  return new ParleyError(
    "token_too_large",
    `The state of "${name}" is ${kib(bytes)}, over the limit of ${kib(limit)}: ${largest.join(", ")}. ` +
      "Keep ids instead of contents in step results, " +
      (store === undefined
        ? "or give parley() a store, which then holds it."
        : "or raise parley({ limits: { taskLogBytes } }): it is too large for the store, too."),
  );
}
