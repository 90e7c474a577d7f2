// The end of a round that waits: its questions go to the client, and everything the handler has learned goes into the token.

import { ParleyError } from "../../errors.ts";
import { capabilityNeededBy } from "../../protocol/capabilities.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import type { Open, Outcome } from "../../replay/outcome.ts";
import type { Entry } from "../../replay/journal.ts";
import type { State } from "../../token/claims.ts";
import { TokenTooLarge } from "../../token/errors.ts";
import { seal } from "../../token/seal.ts";
import { isRuleKey } from "../approvals/approve.ts";
import type { Call } from "./call.ts";
import { askedByHand } from "../audit/by-hand.ts";
import type { CallAudit } from "../audit/call-audit.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { hintAtChange, hintAtSize, kib, largestEntries } from "../dev/author-hints.ts";
import { accumulated, keptState, noLowLevelState, sentRequests } from "../context/low-level.ts";
import type { InputRequiredResult, LowLevelState } from "../context/low-level.ts";
import { isExternal, isShown } from "../context/questions.ts";
import { inWords, Unsupported } from "../context/unsupported-question.ts";
import { pausingFor, travelling } from "./pausing.ts";
import type { Pausing, RoundResponse } from "./request.ts";
import { lateAnswerMs } from "./clock-skew.ts";
import { havePages, openPages } from "./open-pages.ts";
import type { OpenPages } from "./open-pages.ts";
import { spill } from "./spill.ts";
import { packState } from "./state.ts";
import type { CallState, OpenWait, PackedState } from "./state.ts";

type WaitingOutcome = Extract<Outcome<unknown>, { kind: "waiting" | "yielded" | "detached" }>;

// Nothing here is awaited unless it has to be, because each promise is a measurable share of a short round.

/** The response of a run that waits for answers, or that ended at a checkpoint. */
export function suspend(
  core: Core,
  definition: Definition,
  call: Call,
  { entries, open, unused }: WaitingOutcome,
  audit?: CallAudit,
): RoundResponse | Promise<RoundResponse> {
  hintAtChange(core, definition, call.id(), call.journal.entries, entries);
  const now = core.environment.now();
  const waits = open.map((wait) => openWait(wait, call.journal.out, now));
  const sent = travelling(open);
  const ask = ({ out, tickets }: OpenPages) => {
    const state = { entries, out, unused, lowLevel: call.lowLevel };
    const requests = sent.flatMap((one) => inputRequest(one, tickets.get(one.key)));
    return inputRequiredResponse(core, definition, call, state, requests, pausingFor(sent, out));
  };
  const opened = havePages(open)
    ? openPages(core, call, open, waits)
    : { out: waits, tickets: noTickets };
  if (audit === undefined) return opened instanceof Promise ? opened.then(ask) : ask(opened);
  const isFirst = (one: Open) => isFirstShown(one, call, sent.length < open.length);
  return Promise.resolve(opened).then(async (pages) => {
    await audit.asked(sent.filter(isFirst));
    return ask(pages);
  });
}

/** Whether a question was not shown in an earlier round. What was open and could not travel may not have been. */
function isFirstShown(
  { kind, key, digest, shown }: Open,
  { journal }: Call,
  some: boolean,
): boolean {
  if (kind !== "question" || !isShown(shown)) return false;
  if (some || shown.pausingWay !== undefined) return true;
  return !journal.out.some((one) => one.key === key && one.digest === digest);
}

const noTickets: ReadonlyMap<string, string> = new Map();

/** The response of a handler that drives the rounds itself. */
export async function suspendByHand(
  core: Core,
  definition: Definition,
  call: Call,
  returned: InputRequiredResult,
  entries: readonly Entry[],
  audit?: CallAudit,
): Promise<RoundResponse> {
  // What was asked before the handler ran is not its own.
  if (!entries.every(({ key }) => isRuleKey(key))) throw mixedStyles(definition.name);
  const inputRequests = sentRequests(definition.name, returned);
  for (const [key, request] of inputRequests) {
    const needs = capabilityNeededBy(request);
    if (!call.abilities.includes(needs))
      throw new Unsupported(definition.name, key, needs, wordsOf(request));
  }
  const answers = accumulated(call.lowLevel, call.answers);
  const lowLevel: LowLevelState = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answers came from a request's JSON
    answers: answers as unknown as LowLevelState["answers"],
    state: keptState(definition.name, returned),
    asked: inputRequests.map(([key]) => key),
  };
  await askedByHand(call, inputRequests, audit);
  const state = { entries, out: [], unused: [], lowLevel };
  return inputRequiredResponse(core, definition, call, state, inputRequests);
}

function wordsOf(request: InputRequest): string {
  if (request.method !== "elicitation/create") return "";
  const { params } = request;
  return inWords(params.message, params.mode === "form" ? params.requestedSchema : undefined);
}

/** Seals the state into a token, and asks these questions. */
export function inputRequiredResponse(
  core: Core,
  definition: Definition,
  call: Call,
  own: Pick<CallState, "entries" | "out" | "unused" | "lowLevel"> &
    Partial<Pick<CallState, "version" | "yields">>,
  inputRequests: readonly (readonly [string, InputRequest])[],
  pausing?: Pausing,
): RoundResponse | Promise<RoundResponse> {
  if (call.roundsLeft <= 0) throw tooManyRounds(definition.name, core.limits.rounds);
  // Written out here and below, because this runs in every round and a spread is slow.
  const state: CallState = {
    entries: own.entries,
    out: own.out,
    abilities: call.abilities,
    ways: call.ways,
    era: call.era,
    unused: own.unused,
    lowLevel: own.lowLevel,
    inputDigest: call.inputDigest(),
    firstSpan: call.firstSpan,
    version: "version" in own ? own.version : core.version,
    yields: own.yields ?? 0,
    askedAt:
      core.telemetry.isMeasuring && inputRequests.length > 0 ? core.environment.now() : undefined,
  };
  const keptMs = pausing === undefined ? 0 : core.limits.pauseMs;
  const respond = (requestState: string): RoundResponse => {
    hintAtSize(core, definition, call.id(), call.round, own.entries);
    const resultType = "input_required";
    return {
      kind: resultType,
      call: call.id(),
      pausing,
      result:
        inputRequests.length === 0
          ? { resultType, requestState }
          : { resultType, inputRequests: Object.fromEntries(inputRequests), requestState },
    };
  };
  const sealed = sealState(core, definition, call, state, keptMs);
  return typeof sealed === "string" ? respond(sealed) : sealed.then(respond);
}

/** A question that is asked again unchanged keeps its time limit. */
export function openWait(
  { key, digest, ms, shown }: Open,
  before: readonly OpenWait[],
  now: number,
): OpenWait {
  const earlier = before.find((one) => one.key === key && one.digest === digest);
  const dueAt = earlier?.dueAt ?? (ms === undefined ? undefined : now + ms);
  return isExternal(shown) ? { key, digest, dueAt, isExternal: true } : { key, digest, dueAt };
}

function inputRequest(
  { key, shown, reason }: Open,
  ticket: string | undefined,
): [string, InputRequest][] {
  return isShown(shown) ? [[key, shown.request(reason, ticket)]] : [];
}

/**
 * Whether the state may be kept as it is (recent-tokens.ts). A handler that drives the rounds itself gets its parts, and not
 * copies. What a step returned may have been cut out of a much larger text, which V8 then keeps as well.
 */
const isOurs = ({ entries, lowLevel }: CallState): boolean =>
  lowLevel === noLowLevelState &&
  entries.every(
    (entry) => entry.kind !== "threw" && (entry.kind !== "step" || isSmall(entry.value)),
  );

const isSmall = (value: unknown): boolean =>
  value === null || (typeof value === "string" ? value.length <= 12 : typeof value !== "object");

/** A promise if the state goes to the store. */
function sealState(
  core: Core,
  definition: Definition,
  call: Call,
  state: CallState,
  /** How long the state is kept at least, in milliseconds. */
  keptMs: number,
): string | Promise<string> {
  const { limits, environment } = core;
  const longestWait = state.out.reduce((longest, { dueAt = 0 }) => Math.max(longest, dueAt), 0);
  const expiresAt = Math.max(
    environment.now() + Math.max(limits.tokenTtlMs, keptMs),
    longestWait + lateAnswerMs,
  );
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
      {
        maxBytes: limits.tokenBytes,
        deflate: limits.deflate,
        recent: core.recentTokens,
        isStateOurs: isOurs(state),
      },
    );
  try {
    return sealed({ kind: "inline", value: packed });
  } catch (error) {
    if (!(error instanceof TokenTooLarge)) throw error;
    const spilling = spill(core, call, packed, expiresAt);
    if (spilling === undefined) throw tooLarge(core, definition.name, error, state.entries);
    return spilling.then((pointer) => sealed({ kind: "spilled", pointer }));
  }
}

function mixedStyles(name: string): ParleyError {
  return new ParleyError(
    "mixed_styles",
    `"${name}" used an operation such as ctx.ask or ctx.step and returned inputRequired(…). A handler either awaits its questions, or drives the rounds itself with inputRequired, ctx.answers and ctx.state.`,
  );
}

function tooManyRounds(name: string, limit: number): ParleyError {
  return new ParleyError(
    "too_many_rounds",
    `"${name}" has taken ${limit} rounds, which is the limit, and asks again. Ask several questions at once with Promise.all, or raise parley({ limits: { rounds } }).`,
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
    `The state of "${name}" is ${kib(bytes)}, and the limit is ${kib(limit)}. The largest parts: ${largest.join(", ")}. ` +
      "Return ids instead of contents from steps, " +
      (store === undefined
        ? "or pass parley() a store, which then holds the state."
        : "or raise parley({ limits: { taskLogBytes } }), because the state is too large for the store as well."),
  );
}
