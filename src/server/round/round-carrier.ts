// The carrier of a round: what the engine and `ctx` get from the request that is being served.

import type { InputResponses } from "@modelcontextprotocol/server";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import type { Era } from "../../protocol/versions.ts";
import type { Carrier } from "../../replay/carrier.ts";
import { errorText } from "../../util/error-text.ts";
import type { Json } from "../../util/json.ts";
import { CallCarrier } from "./call-carrier.ts";
import type { Recording } from "./call-carrier.ts";
import type { CallFacts } from "../context/call-facts.ts";
import { accumulated, noLowLevelState } from "../context/low-level.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { Call } from "./call.ts";
import type { Inline } from "./inline.ts";
import type { RoundRequest } from "./request.ts";
import { Shedding } from "./shedding.ts";
import { wayOf } from "./ways.ts";
import type { Privacy, Way } from "./ways.ts";

/** A round keeps no log of its own, because the token does. With `once: true` the store records it (repeated-round.ts). */
export class RoundCarrier extends CallCarrier {
  readonly #call: Call;
  readonly #request: RoundRequest;
  readonly #inline: Inline | undefined;
  readonly #startedAt: number;
  #shedding: Shedding | undefined;
  #mayStart: Carrier["mayStart"];
  /** `background()` ends this round, because the call can become a task. */
  readonly canDetach: boolean;

  constructor(
    core: Core,
    definition: Definition,
    call: Call,
    request: RoundRequest,
    recording: Recording,
    canDetach: boolean,
    /** Set if the handler may call `background()` and the client cannot follow a task. */
    inline: Inline | undefined,
  ) {
    super(core, definition, recording);
    this.#call = call;
    this.#request = request;
    this.canDetach = canDetach;
    this.#inline = inline;
    this.#startedAt = core.environment.now();
  }

  override get callId(): string {
    return this.#call.id();
  }

  // ---------------------------------------------------------------- for the engine

  override get turns(): Carrier["turns"] {
    return this.#request.turns ?? super.turns;
  }

  protected override get isNewCall(): boolean {
    return this.#call.round === 1;
  }

  /** False in the last round, because no later round could continue the work. */
  override get canYield(): boolean {
    return this.#call.roundsLeft > 0;
  }

  override get mayStart(): Carrier["mayStart"] {
    const shedding = (this.#shedding ??= new Shedding(this.core, this.#call, this.#request, () =>
      this.elapsedMs(),
    ));
    const { mayStart } = this.recording;
    this.#mayStart ??= (key) => (shedding.isBefore(key) ? "later" : (mayStart?.(key) ?? true));
    return this.#mayStart;
  }

  /** Whether the round ended before a step, so that another one goes on (shedding.ts). */
  get hasShed(): boolean {
    return this.#shedding?.hasShed === true;
  }

  override get stop(): Carrier["stop"] {
    return this.#request.stop;
  }

  elapsedMs(): number {
    return this.now() - this.#startedAt;
  }

  // ---------------------------------------------------------------- for `ctx`

  override get principal(): string | undefined {
    return this.#request.principal;
  }

  override get era(): Era {
    return this.#call.era;
  }

  override get request(): CallFacts["request"] {
    return this.#request.facts;
  }

  override get stepObserver(): CallFacts["stepObserver"] {
    return this.#request.stepObserver;
  }

  protected override get canUndo(): boolean {
    return this.definition.once === true;
  }

  override get place(): Carrier["place"] {
    const place = super.place;
    if (place === undefined || this.core.watching?.watcher === undefined) return place;
    const lines = (this.#call.lines ??= new Map());
    return (key) => {
      const line = place(key);
      if (line !== undefined) lines.set(key, line);
      return line;
    };
  }

  override get mayBecomeTask(): boolean {
    return this.definition.task !== undefined;
  }

  override get task(): undefined {
    return undefined;
  }

  override onBackground(): void {
    this.#inline?.begin();
  }

  override can(ability: Ability | ExtensionId): boolean {
    return this.#call.abilities.includes(ability);
  }

  override way(privacy: Privacy): Way | undefined {
    // Most clients show forms, and most questions are not secret.
    if (privacy.sensitive !== true && this.can("form")) return "form";
    return wayOf(this.#call.ways, privacy);
  }

  override progress(...update: Parameters<CallFacts["progress"]>): void {
    this.#request.notify?.progress(...update);
  }

  override log(...line: Parameters<CallFacts["log"]>): void {
    this.#request.notify?.log(...line);
  }

  override get parts(): CallFacts["parts"] {
    return this.#request.notify?.parts;
  }

  override onSchemaError(key: string, error: unknown): void {
    this.core.logger.error(
      `The schema of question "${key}" threw: ${errorText(error)}`,
      this.logFields(),
    );
  }

  override answers(): InputResponses {
    return accumulated(this.#call.lowLevel, this.#call.answers);
  }

  override get hasBegunByHand(): boolean {
    return this.#call.lowLevel !== noLowLevelState;
  }

  override state(): Json | undefined {
    return this.#call.lowLevel.state;
  }

  /** As long as the question itself, and at least as long as a token. */
  protected override ticketTtlMs(timeoutMs = 0): number {
    const { tokenTtlMs } = this.core.limits;
    return Math.max(tokenTtlMs, Number.isFinite(timeoutMs) ? timeoutMs : 0);
  }
}
