// What rounds and tasks have in common as carriers of a call: the parts of the process that the engine and `ctx` use.

import { AsyncResource } from "node:async_hooks";
import type { InputResponses } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import type { Carrier, RunRecording } from "../../replay/carrier.ts";
import { sealTicket } from "../../token/ticket.ts";
import { errorText } from "../../util/error-text.ts";
import type { Json } from "../../util/json.ts";
import { audited, CallAudit } from "../audit/call-audit.ts";
import type { AuditedCaller } from "../audit/call-audit.ts";
import type { CallFacts } from "../context/call-facts.ts";
import type { Entry } from "../../replay/journal.ts";
import type { Accounts } from "../accounts/account.ts";
import { HandedOut } from "../accounts/handed-out.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { hintAtIdling } from "../dev/author-hints.ts";
import { bodyNesting, isNestingFree } from "../dev/body-nesting.ts";
import { callerPlace } from "../dev/caller-place.ts";
import { shortId } from "../../util/short-id.ts";
import { pageAddress } from "../pages/page-address.ts";
import { fieldsOf, logStepError } from "./failure.ts";
import { undoMistake } from "./undo-mistake.ts";
import type { Privacy, Way } from "./ways.ts";
import type { FailedCall } from "./failure.ts";

/** Where the entries of a run are recorded while it runs, and what stops it. Empty for a round that only the token records. */
export type Recording = RunRecording & {
  /** The handler has thrown, so the call has ended. */
  readonly onThrow?: (() => void) | undefined;
};

/** A recording that keeps nothing. */
export const noRecording: Recording = {};

/**
 * The carrier of one run. The engine sees it as a `Carrier`, `ctx` as `CallFacts`.
 *
 * Almost everything is looked up on demand, because a handler that asks nothing needs none of it (R15). It is a class with
 * accessors on its prototype for a reason: V8 gives each object literal that has a getter its own shape, which keeps the
 * whole request alive until the next full garbage collection.
 */
export abstract class CallCarrier implements Carrier, CallFacts {
  protected readonly core: Core;
  protected readonly definition: Definition;
  protected recording: Recording;
  #nesting: Carrier["nesting"];
  #handedOut: HandedOut | undefined;
  #append: Carrier["append"];
  #audit: CallAudit | undefined;

  constructor(core: Core, definition: Definition, recording: Recording) {
    this.core = core;
    this.definition = definition;
    this.recording = recording;
  }

  abstract get callId(): string;

  // ---------------------------------------------------------------- for the engine

  abstract get canDetach(): boolean;
  abstract get canYield(): boolean;

  get name(): string {
    return this.definition.name;
  }

  get turns(): Carrier["turns"] {
    return this.core.environment.turns;
  }

  get after(): Carrier["after"] {
    return this.core.environment.after;
  }

  get stallMs(): number {
    return this.core.environment.stallMs;
  }

  get stop(): Carrier["stop"] {
    return this.recording.stop;
  }

  get drain(): Carrier["drain"] {
    return this.recording.drain;
  }

  get append(): Carrier["append"] {
    const { audit } = this;
    if (audit === undefined) return this.recording.append;
    this.#append ??= audited(audit, this.recording.append);
    return this.#append;
  }

  get onReplayed(): Carrier["onReplayed"] {
    const audit = this.recording.isTakenOver === true ? this.audit : undefined;
    return audit && ((entry, shown) => audit.replayed(entry, shown));
  }

  /** Undefined if nothing is audited. */
  get audit(): CallAudit | undefined {
    if (!this.core.trail.isOn) return undefined;
    this.#audit ??= new CallAudit(this.core, () => this.#audited(), this.isNewCall);
    return this.#audit;
  }

  /** Whether this run has written something to the audit. */
  get hasAudited(): boolean {
    return this.#audit?.hasRecorded === true;
  }

  /** Whether this run is the first one of its call. */
  protected abstract get isNewCall(): boolean;

  #audited(): AuditedCaller {
    const { name: tool, callId, principal, task } = this;
    return {
      tool,
      callId,
      ...(task === undefined ? {} : { taskId: task.id }),
      ...(principal === undefined ? {} : { principal }),
    };
  }

  get cut(): Carrier["cut"] {
    return this.recording.cut;
  }

  get write(): Carrier["write"] {
    return this.recording.write;
  }

  get publish(): Carrier["publish"] {
    return this.recording.publish;
  }

  get mayStart(): Carrier["mayStart"] {
    return this.recording.mayStart;
  }

  get onBody(): Carrier["onBody"] {
    return this.recording.onBody;
  }

  get onLeft(): Carrier["onLeft"] {
    return this.recording.onLeft;
  }

  get late(): Carrier["late"] {
    return this.recording.late;
  }

  get isInterrupted(): boolean | undefined {
    return this.recording.isInterrupted;
  }

  get mayForget(): boolean | undefined {
    return this.recording.mayForget;
  }

  get mayAskAgain(): Carrier["mayAskAgain"] {
    return this.recording.mayAskAgain;
  }

  get place(): Carrier["place"] {
    return this.core.environment.isDevelopment ? callerPlace : undefined;
  }

  get nesting(): Carrier["nesting"] {
    if (this.core.environment.isDevelopment || isNestingFree) this.#nesting ??= bodyNesting();
    return this.#nesting;
  }

  get onIdle(): Carrier["onIdle"] {
    if (!this.core.environment.isDevelopment) return undefined;
    return () => hintAtIdling(this.core, this.definition, this.callId);
  }

  /** Does what `AsyncLocalStorage.snapshot()` does. Node 20 makes an accessor for each of those, which costs more. */
  capture(): <T>(call: () => T) => T {
    const context = new AsyncResource("parley.step", { requireManualDestroy: true });
    return (call) => context.runInAsyncScope(call);
  }

  report(mistake: unknown): void {
    const code = mistake instanceof ParleyError ? { code: mistake.code } : {};
    this.core.logger.error(errorText(mistake), { ...this.logFields(), ...code });
  }

  onStepError(key: string, error: unknown): void {
    const shown = this.#handedOut === undefined ? error : this.#handedOut.loggable(error);
    logStepError(this.core, this.definition, this.#logged(), key, shown);
  }

  vet(entry: Entry): Entry {
    return this.#handedOut === undefined ? entry : this.#handedOut.vetted(entry);
  }

  /** The members of every line of the log about this call. */
  protected logFields(): Record<string, unknown> {
    return fieldsOf(this.definition, this.#logged());
  }

  #logged(): FailedCall {
    return { id: () => this.callId, task: this.task && shortId(this.task.id) };
  }

  // ---------------------------------------------------------------- for `ctx`

  abstract get principal(): string | undefined;
  abstract get era(): CallFacts["era"];
  abstract get request(): CallFacts["request"];
  abstract get stepObserver(): CallFacts["stepObserver"];

  get stepTrace(): CallFacts["stepTrace"] {
    const { step: trace } = this.core.telemetry;
    return trace && ((...step) => trace(this.definition, this, ...step));
  }

  /** Whether a repeated request does not run a step again, so that its steps can have an undo (R16, U6). */
  protected abstract get canUndo(): boolean;

  objectionToUndo(step: string, undo: unknown): ParleyError | undefined {
    return undoMistake(this.core, this.definition, step, undo, this.canUndo);
  }

  abstract get mayBecomeTask(): boolean;
  abstract get task(): CallFacts["task"];
  abstract onBackground(): void;
  abstract can(ability: Ability | ExtensionId): boolean;
  abstract way(privacy: Privacy): Way | undefined;

  hasPages(): boolean {
    return this.core.reach.hasPages();
  }

  /** A round asks nobody but its client. */
  published(..._question: Parameters<CallFacts["published"]>): Promise<void> {
    return Promise.resolve();
  }

  get hasBegunByHand(): boolean {
    return false;
  }

  keepsDecisions(): boolean {
    return this.core.store?.approvals !== undefined;
  }

  get accounts(): Accounts | undefined {
    return this.core.accounts();
  }

  handOut(token: string, provider: string): void {
    this.#handedOut ??= new HandedOut();
    this.#handedOut.add(token, provider);
  }

  pageAddress(ticket: string): string | undefined {
    return pageAddress(this.core, ticket);
  }

  abstract progress(...update: Parameters<CallFacts["progress"]>): void;
  abstract log(...line: Parameters<CallFacts["log"]>): void;
  abstract get parts(): CallFacts["parts"];
  abstract onSchemaError(key: string, error: unknown): void;
  abstract answers(): InputResponses;
  abstract state(): Json | undefined;
  /** How long a ticket for a question with this time limit is good. */
  protected abstract ticketTtlMs(timeoutMs: number | undefined): number;

  ticket(...[kind, key, timeoutMs, digest]: Parameters<CallFacts["ticket"]>): string {
    return sealTicket(
      {
        kind,
        callId: this.callId,
        key,
        principal: this.principal,
        audience: this.core.name,
        expiresAt: this.now() + this.ticketTtlMs(timeoutMs),
        digest,
      },
      this.core.keyring(),
    );
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.core.environment.after(ms, resolve));
  }

  now(): number {
    return this.core.environment.now();
  }
}
