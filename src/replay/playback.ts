// How a run gets from what earlier runs did to something new. It goes through these phases:
//
//   request   The handler calls an operation. It is noted, and the end of the turn is awaited (R4).
//   replay    At the end of a turn, the next entry of the log is delivered, one in each turn (R5).
//   live      After the last entry, events and finished bodies become entries and are delivered (R3).
//   suspend   Nothing more happens, and something is open, so the run ends (R8).
//
// `onTurnOver` decides which of them comes next. The playback asks for a turn whenever something has happened that may have
// consequences: a request, a delivery, the end of a body, an arrival in the inbox. A *brief* turn is enough to deliver an
// entry when nothing else is outstanding. A *full* turn, after which nothing that the handler started can still call an
// operation, comes before anything that could cut such a call short: the first action of a run, a delivery while other
// operations are outstanding, and the end of the run.

import { Answers, isRepeatable } from "./answers.ts";
import { firstToWrite } from "./begin.ts";
import { Bodies } from "./bodies.ts";
import type { BodyListener } from "./bodies.ts";
import * as authorErrors from "./author-errors.ts";
import type { Carrier } from "./carrier.ts";
import { Divergence } from "./divergence.ts";
import { endingAmong, suspendedAs } from "./ending.ts";
import type { EndingOperation } from "./ending.ts";
import type { Open } from "./outcome.ts";
import type { Inbox, InboxEvent } from "./inbox.ts";
import { isAnswer, patchedKeys } from "./journal.ts";
import type { Entry, Journal, Out } from "./journal.ts";
import { Log } from "./log.ts";
import { objectionToReturn } from "./objection.ts";
import { Patches } from "./patches.ts";
import type { PatchOperation } from "./patches.ts";
import { Publishing } from "./publishing.ts";
import { accepts, asOpen, fits, Requested, settleWith, shownBy } from "./requested.ts";
import type { Operation, QuestionOperation } from "./requested.ts";
import type { StopReason } from "./stop.ts";
import { TurnLoop } from "./turn-loop.ts";
import type { PlaybackEnds, TurnListener } from "./turn-loop.ts";

/** The part of a run that starts with the first operation of its handler. */
export class Playback implements TurnListener, BodyListener {
  readonly #carrier: Carrier;
  readonly #inbox: Inbox;
  readonly #log: Log;
  readonly #run: PlaybackEnds;
  readonly #loop: TurnLoop;
  readonly #requested = new Requested();
  readonly #bodies: Bodies;
  #answers: Answers | undefined;
  #divergence: Divergence | undefined;
  #patches: Patches | undefined;
  /** Questions and timers that were open when the last run ended. */
  #out: readonly Out[];
  #isLive = false;
  /** No full turn is over yet, so the branches that the handler started at its beginning may still request something. */
  #isFresh = true;
  /** Outcomes that are not in the log yet, oldest first. */
  readonly #finished: { readonly operation: Operation; readonly entry: Entry }[] = [];
  /** The carrier wants a body to start in a later run, so this one ends as yielded. */
  #isPostponed = false;
  /** The operation at which the run will end (R11). */
  #ending: EndingOperation | undefined;
  readonly #publishing: Publishing;
  /** The run was asked to end in order, for this reason. */
  #drainedFor: StopReason | undefined;

  constructor(journal: Journal, inbox: Inbox, carrier: Carrier, run: PlaybackEnds) {
    this.#log = new Log(journal.entries);
    this.#out = journal.out;
    this.#inbox = inbox;
    this.#carrier = carrier;
    this.#run = run;
    this.#loop = new TurnLoop(carrier.turns, run, this);
    this.#publishing = new Publishing(carrier, this.#loop);
    this.#bodies = new Bodies(carrier, run, this);
    if (patchedKeys(journal.entries).length > 0) this.#patching();
    inbox.listener = this;
  }

  // ---------------------------------------------------------------- what the run and the inbox call

  /** Something new is in the inbox. */
  arrived(): void {
    this.#divergence?.endStall();
    this.#loop.next("brief");
  }

  get entries(): readonly Entry[] {
    return this.#log.entries;
  }

  /** The step whose body is being called right now, if any. */
  get calling(): string | undefined {
    return this.#bodies.calling;
  }

  /** A question or step has not been awaited so far. */
  get hasForgotten(): boolean {
    return this.#requested.unawaited().length > 0 || this.#requested.forgottenStep() !== undefined;
  }

  request(operation: Operation): void {
    const { name } = this.#carrier;
    const { key } = operation;
    const earlier = this.#requested.named(key);
    if (earlier !== undefined) {
      return this.#run.fail(authorErrors.duplicateKey(name, earlier, operation));
    }
    this.#requested.add(operation);
    this.#divergence?.endStall();

    const entry = this.#log.find(key);
    if (entry === undefined && operation.kind === "question" && this.#isImpossible(operation)) {
      // This request has ended the watch over the other operations, which may have stalled.
      if (this.#requested.outstanding > 0) this.#loop.next("brief");
      return;
    }
    if (entry !== undefined && !fits(operation, entry)) {
      return this.#run.fail(authorErrors.kindChanged(name, entry, operation));
    }
    if (operation.kind === "question" && isAnswer(entry)) {
      if (entry.digest !== operation.spec.digest) this.#diverge().addMismatch(operation, entry);
    }
    this.#loop.next(this.#isFresh || this.#canOnlyEnd(operation) ? "full" : "brief");
  }

  /** Asks whether the call takes the new path of a changed handler (R17). */
  patched(operation: PatchOperation): void {
    this.#divergence?.endStall();
    this.#patching().request(operation);
  }

  /** The log has a note that this run has not asked for. */
  get isOlder(): boolean {
    return this.#patches?.unasked !== undefined;
  }

  /** Nothing can be delivered, so this request leads either to the end of the run or to another request. */
  #canOnlyEnd({ kind }: Operation): boolean {
    const isOpen = kind === "question" || kind === "timer";
    return isOpen && this.#isLive && this.#requested.outstanding === 1 && this.#inbox.isEmpty;
  }

  /** Rejects a question that this client cannot be asked. That is the same in every run, so it needs no entry. */
  #isImpossible(operation: QuestionOperation): boolean {
    const { impossible } = operation.spec;
    if (impossible === undefined) return false;
    this.#requested.settled(operation);
    operation.reject(impossible);
    return true;
  }

  isLive(): boolean {
    if (this.#isLive) return true;
    // If the last run ended as waiting, it went further than its last entry, and that part of the handler is not new.
    return this.#log.endsOpen && this.#log.head() === undefined && !this.#isOutMissing();
  }

  /** What is wrong with returning now, if anything. */
  objection(): Error | undefined {
    return objectionToReturn(this.#carrier.name, this.#requested, this.#log);
  }

  /** Lets the run end when everything under way is recorded. False if nothing is. */
  drain(reason: StopReason): boolean {
    this.#drainedFor = reason;
    this.#bodies.drain();
    return this.#isLive && (this.#bodies.running + this.#finished.length > 0 || this.#loop.isBusy);
  }

  close(reason: StopReason | "RunEnded"): void {
    this.#divergence?.endStall();
    this.#inbox.listener = undefined;
    this.#bodies.abort(reason, this.#finished);
  }

  // ---------------------------------------------------------------- what bodies call (R9)

  onBodyFinished(operation: Operation, entry: Entry): void {
    this.#finished.push({ operation, entry });
    this.#loop.next("brief");
  }

  onRetryAbandoned(): void {
    this.#loop.next("brief");
  }

  // ---------------------------------------------------------------- the end of a turn (R4)

  onTurnOver(isQuiet: boolean): void {
    if (isQuiet) this.#isFresh = false;
    const mistake = this.#requested.notAwaited();
    if (mistake !== undefined) return this.#run.fail(mistake);
    if (this.#divergence?.hasMismatch === true) return this.#divergence.cutAtMismatch();
    if (this.#patches?.decide(isQuiet) === true) return;
    if (this.#isLive || this.#replay(isQuiet)) this.#proceed(isQuiet);
  }

  /** Whether an entry may be delivered now. If not, asks for the full turn that has to come first. */
  #mayDeliver(isQuiet: boolean): boolean {
    if (isQuiet || this.#requested.outstanding <= 1) return true;
    this.#loop.next("full");
    return false;
  }

  // ---------------------------------------------------------------- replay (R5)

  /** Delivers the next entry of the log. True if there is none left, which means that the run is live. */
  #replay(isQuiet: boolean): boolean {
    this.#log.passBegun((key) => this.#requested.has(key));
    const entry = this.#log.head();
    if (entry !== undefined) {
      const operation = this.#requested.get(entry.key);
      if (operation === undefined)
        this.#awaitRequest(isQuiet, () => this.#diverge().stalledBefore(entry));
      else if (this.#mayDeliver(isQuiet)) this.#deliver(operation, entry);
      return false;
    }
    if (this.#isOutMissing() || this.isOlder) {
      // If the handler no longer asks a question that was open, or for a note, the run does not wait for it.
      this.#awaitRequest(isQuiet, () => {
        this.#out = [];
        this.#patching().forget();
      });
      return false;
    }
    this.#isLive = true;
    return true;
  }

  /** A question or timer that was open when the last run ended has not been requested in this one. */
  #isOutMissing(): boolean {
    return this.#out.some(({ key }) => !this.#requested.has(key));
  }

  /** The handler has yet to request something that the log has. Calls back if it stalls instead (R6). */
  #awaitRequest(isQuiet: boolean, onStall: () => void): void {
    if (this.#requested.outstanding === 0) return this.#idle(isQuiet);
    if (!isQuiet) return this.#loop.next("full");
    this.#diverge().watchForStall(onStall);
  }

  #diverge(): Divergence {
    const onCut = () => void (this.#out = []);
    return (this.#divergence ??= new Divergence({ ...this.#shared(), onCut }));
  }

  #answering(): Answers {
    // Written out, because most runs need it and a spread is slow.
    return (this.#answers ??= new Answers({
      loop: this.#loop,
      record: (entry, then) => this.#record(entry, then),
      settle: (operation, settle) => this.#settle(operation, settle),
      diverge: () => this.#diverge(),
    }));
  }

  #patching(): Patches {
    return (this.#patches ??= new Patches({
      ...this.#shared(),
      isAtEnd: () => this.#isLive || (this.#log.head() === undefined && !this.#isOutMissing()),
      onSettled: () => this.#loop.next(this.#requested.outstanding === 0 ? "brief" : "full"),
    }));
  }

  /** For the parts that most playbacks do not need. */
  #shared() {
    return {
      carrier: this.#carrier,
      run: this.#run,
      loop: this.#loop,
      log: this.#log,
      inbox: this.#inbox,
      requested: this.#requested,
      record: (entry: Entry, then: () => void) => this.#record(entry, then),
    };
  }

  // ---------------------------------------------------------------- live (R3, R8, R9, R11)

  #proceed(isQuiet: boolean): void {
    // A question may have become impossible when the answer to its earlier wording was cut off.
    this.#requested.waiting("question").forEach((operation) => this.#isImpossible(operation));
    this.#lookForEnding();
    const mayStart = this.#ending === undefined && this.#drainedFor === undefined;
    if (mayStart && !this.#startBodies()) return;
    if (this.#run.isOver()) return;
    if (this.#recordNext(isQuiet)) return;
    const open = this.#requested.waiting("question", "timer").map(asOpen);
    if (this.#bodies.running > 0) return this.#publishing.show(isQuiet, open);
    const drainedFor = this.#drainedFor;
    // A step that a draining run did not start must not wait for an answer. It is due at once, elsewhere.
    const isLeft = drainedFor !== undefined && this.#requested.waiting("step").length > 0;
    const isOpen = open.length > 0 && !isLeft;
    const hasEnd = this.#ending !== undefined || this.#isPostponed || isOpen;
    if (!hasEnd && drainedFor === undefined) return this.#idle(isQuiet);
    if (!isQuiet) return this.#loop.next("full");
    if (!hasEnd && drainedFor !== undefined) return this.#run.stop(drainedFor);
    this.#suspend(open);
  }

  /** Chooses the `background` or `checkpoint` at which the run ends. Those that do not end it are recorded as passed. */
  #lookForEnding(): void {
    if (this.#ending !== undefined) return;
    const operations = this.#requested.waiting("background", "checkpoint");
    this.#ending = endingAmong(operations, this.#carrier, this.#bodies.hasRun, (operation) => {
      operation.state = "in_progress";
      this.#finished.push({ operation, entry: { kind: operation.kind, key: operation.key } });
    });
  }

  /** False if something has to be durable before, so that it starts nothing yet (R3, R16). */
  #startBodies(): boolean {
    const steps = this.#requested.waiting("step");
    const first = firstToWrite(steps, this.#log, this.#carrier);
    const again = () => this.#loop.next("brief");
    if (first instanceof Promise) this.#loop.whenReady(() => first, again);
    else if (first !== undefined) this.#record(first, again);
    if (first !== undefined) return false;
    const started = this.#bodies.startAll(steps, this.#finished);
    if (started === "forbidden") this.#run.stop("LostLease");
    if (started === "later") this.#isPostponed = true;
    return true;
  }

  /** Turns one event or one finished body into an entry, events first. False if there is neither. */
  #recordNext(isQuiet: boolean): boolean {
    const isWanted = (event: InboxEvent) => accepts(this.#requested.get(event.key), event);
    if (this.#finished.length === 0 && !this.#inbox.has(isWanted)) return false;
    if (!this.#mayDeliver(isQuiet)) return true;
    const event = this.#inbox.take(isWanted);
    if (event !== undefined) {
      this.#use(event);
      return true;
    }
    const finished = this.#finished.shift();
    if (finished !== undefined) this.#recordAndDeliver(finished.operation, finished.entry);
    return true;
  }

  #use(event: InboxEvent): void {
    const operation = this.#requested.get(event.key);
    const { key } = event;
    if (operation?.kind !== "question") {
      if (operation !== undefined) this.#recordAndDeliver(operation, { kind: "timer", key });
      return;
    }
    if (event.kind === "answer") return this.#answering().admit(operation, event);
    const { digest } = operation.spec;
    this.#recordAndDeliver(operation, { kind: "expired", key, digest });
  }

  /** The handler waits for something that is not an operation, so the run can only wait as well. */
  #idle(isQuiet: boolean): void {
    if (this.#carrier.onIdle === undefined || this.#bodies.running > 0) return;
    if (isQuiet) this.#carrier.onIdle();
    else this.#loop.next("full");
  }

  #suspend(open: readonly Open[]): void {
    const unused = this.#inbox.unusedAnswers().filter(({ key }) => !this.#requested.isSettled(key));
    const suspended = { entries: this.entries, open, unused };
    this.#run.suspend(suspendedAs(this.#ending, this.#isPostponed, suspended));
  }

  // ---------------------------------------------------------------- recording and delivery (R2, R3, R4)

  #recordAndDeliver(operation: Operation, entry: Entry): void {
    operation.state = "in_progress";
    this.#record(entry, () => this.#deliver(operation, entry));
  }

  /** Hands an entry to the carrier, which makes it durable, and then continues. */
  #record(entry: Entry, then: () => void): void {
    const { append } = this.#carrier;
    const recorded = () => {
      this.#log.push(entry);
      then();
    };
    if (append === undefined) return recorded();
    const of = this.#requested.get(entry.key);
    this.#loop.whenReady(() => append(entry, shownBy(of), isRepeatable(entry, of)), recorded);
  }

  #deliver(operation: Operation, entry: Entry): void {
    if (isAnswer(entry)) this.#carrier.onReplayed?.(entry, shownBy(operation));
    const isAnswered = operation.kind === "question" && entry.kind === "answer";
    if (isAnswered) this.#answering().deliver(operation, entry);
    else this.#settle(operation, () => settleWith(operation, entry));
  }

  #settle(operation: Operation, settle: () => void): void {
    this.#log.moveOn();
    this.#requested.settled(operation);
    settle();
    // In a live run with nothing outstanding, the handler's next operation asks for a turn.
    const isDone = this.#isLive && this.#requested.outstanding === 0;
    const mustTurn = this.#carrier.onIdle !== undefined || this.#drainedFor !== undefined;
    if (isDone && !mustTurn) return;
    this.#loop.next(this.#requested.outstanding === 0 ? "brief" : "full");
  }
}
