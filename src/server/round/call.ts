// A call as one round sees it: the state that the token brought, and the answers that the request added.

import { ParleyError } from "../../errors.ts";
import { answerMap } from "../../protocol/answers.ts";
import { isFlat } from "../../util/objects.ts";
import { Inbox } from "../../replay/inbox.ts";
import type { InboxEvent } from "../../replay/inbox.ts";
import type { Sender } from "../../replay/journal.ts";
import {
  digest,
  digestible,
  isDigestible,
  isSameJson,
  shortDigest,
  shortened,
} from "../../token/canonical.ts";
import type { Binding } from "../../token/claims.ts";
import { TokenError } from "../../token/errors.ts";
import { open } from "../../token/open.ts";
import { abilitiesOf } from "../../protocol/capabilities.ts";
import { modernVersion } from "../../protocol/versions.ts";
import type { Era } from "../../protocol/versions.ts";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { noteClockSkew } from "./clock-skew.ts";
import { newCallId } from "./first-request.ts";
import { fetchSpilled } from "./spill.ts";
import { withMail } from "../pages/mailbox.ts";
import { noLowLevelState } from "../context/low-level.ts";
import type { LowLevelState } from "../context/low-level.ts";
import type { RoundRequest } from "./request.ts";
import { events } from "./round-events.ts";
import { relaysTasks, waysOf } from "./ways.ts";
import type { OpenWays } from "./ways.ts";
import { unpackState } from "./state.ts";
import type { CallState, PackedState } from "./state.ts";
import type { SpanContext } from "../../util/open-telemetry.ts";

/** What a round needs to know about its call. */
export interface Call {
  /** Made on first use, because a call without a question or a step needs none. */
  readonly id: () => string;
  readonly round: number;
  readonly roundsLeft: number;
  /** When the token of this request expires. Undefined in the first round. */
  readonly tokenExpiresAt: number | undefined;
  /** What a token is bound to: this request of this caller to this server. Made on first use. */
  readonly binding: () => Binding;
  readonly abilities: readonly (Ability | ExtensionId)[];
  /** The ways of its questions to the person. Computed from the first request. */
  readonly ways: OpenWays;
  /** The protocol version of the first request. */
  readonly era: Era;
  readonly journal: Pick<CallState, "entries" | "out">;
  readonly inbox: Inbox;
  /** What the inbox held before the handler ran. */
  readonly arrived: readonly InboxEvent[];
  /** The answers of this request, by key. */
  readonly answers: ReadonlyMap<string, object>;
  /** The questions whose answers a page has brought for this round. */
  readonly mailed: ReadonlySet<string>;
  readonly lowLevel: LowLevelState;
  /** The digest of the parsed arguments. Undefined if JSON cannot hold them. Made on first use. */
  readonly inputDigest: () => string | undefined;
  /** The version of the app whose code has gone this far. Undefined if it is not known. */
  readonly version: string | undefined;
  /** How many rounds in a row were left to another version. */
  readonly yields: number;
  /** The arguments mean something else to this code than to the code that the call began with. */
  readonly objection: ParleyError | undefined;
  /** The span of the call's first round. `serveRound` sets it once the round is traced. */
  firstSpan: SpanContext | undefined;
  /** The span of this round. `serveRound` sets it, too. */
  span: SpanContext | undefined;
  /** The entries at the end of the round, if someone watches. */
  ended?: CallState["entries"] | undefined;
  /** The line of code of each key, in development and if someone watches. */
  lines?: Map<string, string> | undefined;
}

/** Throws TokenError for a `requestState` that was not made for this request, and BadArguments for arguments that cannot be digested. */
export function openCall(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  input: unknown,
): Call | Promise<Call> {
  const { inputResponses } = request;
  const answers = inputResponses === undefined ? noAnswers : answerMap(inputResponses);
  if (answers === undefined) throw new MalformedAnswers();
  return request.requestState === undefined
    ? new FirstRound(core, definition, request, answers, input)
    : laterRound(core, definition, request, answers, input);
}

const noAnswers: ReadonlyMap<string, object> = new Map();
const noMail: ReadonlySet<string> = new Set();

function laterRound(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  answers: ReadonlyMap<string, object>,
  input: unknown,
): Call | Promise<Call> {
  const { environment, limits } = core;
  const binding = bindingOf(core, definition, request);
  const { method, target, argumentsDigest, principal, audience } = binding;
  const claims = open<PackedState>(request.requestState, core.keyring(), {
    method,
    target,
    argumentsDigest,
    principal,
    audience,
    now: environment.now(),
    maxBytes: limits.tokenBytes,
    recent: core.recentTokens,
  });
  const asCall = (state: CallState, mail: Mail): Call => {
    const came = events(state.out, mail.answers, environment.now(), mail.from);
    const arrived = state.unused.length === 0 ? came : [...state.unused, ...came];
    const inputDigest = isSameJson(input, request.arguments)
      ? shortened(argumentsDigest)
      : digestOfInput(input);
    return {
      id: () => claims.callId,
      round: claims.round + 1,
      roundsLeft: claims.roundsLeft - 1,
      tokenExpiresAt: claims.expiresAt,
      binding: () => binding,
      abilities: state.abilities,
      ways: state.ways,
      era: state.era,
      journal: state,
      inbox: new Inbox(arrived),
      arrived,
      answers,
      mailed: mail.mailed,
      lowLevel: state.lowLevel,
      inputDigest: () => state.inputDigest,
      version: state.version,
      yields: state.yields,
      objection: inputDigest === state.inputDigest ? undefined : inputChanged(definition.name),
      firstSpan: state.firstSpan,
      span: undefined,
    };
  };
  const withState = (packed: PackedState): Call | Promise<Call> => {
    const state = readState(packed);
    if (state.askedAt !== undefined) {
      core.telemetry.waited(definition.name, environment.now() - state.askedAt);
    }
    // The state of a paused call lasts as long as the pause, so it does not show when it was sealed.
    if (request.isContinued !== true) {
      noteClockSkew(core, claims.callId, claims.expiresAt, state.out);
    }
    return state.out.some(({ asked }) => asked !== undefined)
      ? withMail(core, claims.callId, state.out, answers).then((mail) => asCall(state, mail))
      : asCall(state, { answers, mailed: noMail, from: undefined });
  };
  return claims.state.kind === "inline"
    ? withState(claims.state.value)
    : fetchSpilled(core, claims.callId, claims.state.pointer).then(withState);
}

/** The answers of a round, with those that pages have brought. */
interface Mail extends Pick<Call, "answers" | "mailed"> {
  /** How the answers of pages came. Undefined without any. */
  readonly from: ReadonlyMap<string, Sender> | undefined;
}

/** The arguments cannot be digested, so a token cannot be bound to them. Ordinary clients do not send such arguments. */
export class BadArguments extends Error {
  constructor(cause: unknown) {
    super("The arguments are nested too deeply, or contain a number that is not finite.", {
      cause,
    });
    this.name = "BadArguments";
  }
}

/** `inputResponses` does not have the structure of answers. An answer that merely does not fit its schema is asked for again. */
export class MalformedAnswers extends Error {
  constructor() {
    super("Malformed inputResponses: expected an object whose members are results.");
    this.name = "MalformedAnswers";
  }
}

function bindingOf(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  args = request.arguments,
): Binding {
  return {
    method: definition.method,
    target: request.target,
    argumentsDigest: unlessBad(() => digest(args ?? {})),
    principal: request.principal,
    audience: core.name,
  };
}

function unlessBad<T>(digested: () => T): T {
  try {
    return digested();
  } catch (error) {
    throw new BadArguments(error);
  }
}

/** Most calls have no question and no step, so what those need is made on first use. */
class FirstRound implements Call {
  readonly answers: ReadonlyMap<string, object>;
  firstSpan: SpanContext | undefined;
  span: SpanContext | undefined;
  readonly #core: Core;
  readonly #definition: Definition;
  readonly #request: RoundRequest;
  /** As they were sent, and as the schema returned them, before the handler could write to them. */
  readonly #arguments: unknown;
  readonly #input: unknown;
  #id: string | undefined;
  #binding: Binding | undefined;
  #inbox: Inbox | undefined;
  #abilities: readonly (Ability | ExtensionId)[] | undefined;
  #ways: OpenWays | undefined;
  #inputDigest: { readonly value: string | undefined } | undefined;

  constructor(
    core: Core,
    definition: Definition,
    request: RoundRequest,
    answers: ReadonlyMap<string, object>,
    input: unknown,
  ) {
    this.#core = core;
    this.#definition = definition;
    this.#request = request;
    this.answers = answers;
    // Arguments that cannot be digested are refused before anything runs, not at the first question. Nested arguments are
    // not copied for the handler, so they are copied here. Most handlers ask nothing, and then nothing is digested.
    const { arguments: args } = request;
    this.#arguments = isFlat(args) ? args : unlessBad(() => digestible(args));
    // Many schemas return the arguments themselves.
    if (input === args) this.#input = this.#arguments;
    else this.#input = isFlat(input) ? input : this.#copied(input);
  }

  #copied(input: unknown): unknown {
    if (isSameJson(input, this.#arguments)) return this.#arguments;
    try {
      return isDigestible(input) ? digestible(input) : undefined;
    } catch {
      return undefined;
    }
  }

  id(): string {
    this.#id ??= newCallId(this.#core, this.#definition, this.#request, () => this.binding());
    return this.#id;
  }

  get round(): number {
    return 1;
  }

  get roundsLeft(): number {
    return this.#core.limits.rounds - 1;
  }

  get tokenExpiresAt(): undefined {
    return undefined;
  }

  binding(): Binding {
    return (this.#binding ??= bindingOf(
      this.#core,
      this.#definition,
      this.#request,
      this.#arguments,
    ));
  }

  get abilities(): readonly (Ability | ExtensionId)[] {
    return (this.#abilities ??= this.#able());
  }

  #able(): readonly (Ability | ExtensionId)[] {
    const able = abilitiesOf(this.#request.capabilities);
    const { task } = this.#definition;
    if (task === undefined || able.includes("task")) return able;
    return relaysTasks(task, this.ways) ? [...able, "task"] : able;
  }

  get ways(): OpenWays {
    this.#ways ??= waysOf(this.#core, this.#definition, this.#request);
    return this.#ways;
  }

  get era(): Era {
    return this.#request.era ?? modernVersion;
  }

  get journal(): Call["journal"] {
    return noJournal;
  }

  get inbox(): Inbox {
    return (this.#inbox ??= new Inbox(this.arrived));
  }

  get arrived(): readonly InboxEvent[] {
    return events([], this.answers, 0);
  }

  get mailed(): ReadonlySet<string> {
    return noMail;
  }

  get version(): string {
    return this.#core.version;
  }

  get yields(): number {
    return 0;
  }

  get objection(): undefined {
    return undefined;
  }

  get lowLevel(): LowLevelState {
    return noLowLevelState;
  }

  inputDigest(): string | undefined {
    this.#inputDigest ??= {
      value: isSameJson(this.#input, this.#arguments ?? {})
        ? shortened(this.binding().argumentsDigest)
        : digestOfInput(this.#input),
    };
    return this.#inputDigest.value;
  }
}

const noJournal: Call["journal"] = { entries: [], out: [] };

/** Undefined for values that JSON cannot hold, such as a Date or a Map. They are not compared. */
export function digestOfInput(input: unknown): string | undefined {
  try {
    return isDigestible(input) ? shortDigest(input) : undefined;
  } catch {
    return undefined;
  }
}

/** The schema has a default or a transform that depends on the time, on chance or on a lookup. */
function inputChanged(handler: string): ParleyError {
  return new ParleyError(
    "history_changed",
    `The schema of "${handler}" gives a different result for the same arguments than it did earlier in this call. Nothing was run again.\n` +
      "The schema is applied in every round, so it must depend on the arguments alone. Get times, random values and lookups in a step.",
  );
}

function readState(packed: PackedState): CallState {
  try {
    return unpackState(packed);
  } catch {
    throw new TokenError("malformed");
  }
}
