// How a run gets from what has been told to what is new.
//
//   request   the handler calls an operation: it is noted, and the end of the turn awaited (R4)
//   replay    at the end of a turn the head of the log is delivered, one entry a turn (R5)
//   live      after the last entry: events and finished bodies become entries and are delivered (R3)
//   suspend   nothing happens any more, and something is open (R8)
//
// `#look` is called when a turn is over and decides which of these comes next. A turn is asked for
// (`#nextTurn`) whenever something has happened that something may come of: a request, a delivery, a body that has
// finished later, an arrival. A *brief* one is enough to deliver where nothing else is outstanding; a *full* one,
// after which nothing the handler set off can still be under way, comes before anything that could cut it short: the
// first thing that is done in a run, any delivery while others wait, and the end.

import { StepError, Unanswered } from "../errors.ts";
import { Bodies } from "./bodies.ts";
import * as faults from "./author-errors.ts";
import type { Carrier } from "./carrier.ts";
import type { Reading } from "./operations.ts";
import type { Open, Outcome } from "./outcome.ts";
import type { Inbox, InboxEvent } from "./inbox.ts";
import { isEffect } from "./journal.ts";
import type { Entry, Journal, Out } from "./journal.ts";
import { copyJson } from "../util/json.ts";
import { Log } from "./log.ts";
import { asOpen, fits, Requested } from "./operation.ts";
import type {
  BackgroundOperation,
  CheckpointOperation,
  Operation,
  QuestionOperation,
} from "./operation.ts";
import type { StopReason } from "./stop.ts";
import { isThenable } from "../util/promises.ts";

/** How a playback ends the run it belongs to. */
export interface Ends {
  readonly isOver: () => boolean;
  readonly fail: (error: unknown) => void;
  readonly stop: (reason: StopReason) => void;
  readonly suspend: (outcome: Outcome<never>) => void;
}

type Answered = Extract<Entry, { kind: "answer" | "expired" }>;

const manyBriefTurns = 64;

export class Playback {
  readonly #hooks: Carrier;
  readonly #inbox: Inbox;
  readonly #log: Log;
  readonly #run: Ends;
  readonly #requested = new Requested();
  readonly #bodies: Bodies;
  /** Questions and timers that were open when the last run ended. */
  #out: readonly Out[];

  #isLive = false;
  /** No full turn is over yet: what the handler set off when it began may still be under way. */
  #isFresh = true;
  /** An append or a validation is under way: nothing else is delivered meanwhile (R3). */
  #isBusy = false;
  /** The turn whose end is awaited. A full one replaces a brief one, so that one end is heard of. */
  #turn: { readonly kind: "brief" | "full" } | undefined;
  #briefTurns = 0;
  #callOffStall: (() => void) | undefined;

  /** Requested past un-awaited questions; looked at when the turn is over (R10). */
  #suspects: { readonly operation: Operation; readonly past: readonly QuestionOperation[] }[] = [];
  /** Questions that read differently from the one answered under their key (R7). */
  #misfits: { readonly operation: QuestionOperation; readonly entry: Answered }[] = [];
  /** Entries on their way into the log. */
  readonly #finished: { readonly operation: Operation; readonly entry: Entry }[] = [];
  /** A body was not to be started in this run: it ends as yielded. */
  #isPutOff = false;
  /** The operation at which the run will end (R11). */
  #ending: BackgroundOperation | CheckpointOperation | undefined;
  #published = "";

  constructor(journal: Journal, inbox: Inbox, hooks: Carrier, run: Ends) {
    this.#log = new Log(journal.entries);
    this.#out = journal.out;
    this.#inbox = inbox;
    this.#hooks = hooks;
    this.#run = run;
    this.#bodies = new Bodies(
      hooks,
      (operation, entry) => {
        this.#finished.push({ operation, entry });
        this.#nextTurn("brief");
      },
      (fault) => run.fail(fault),
      () => run.stop("LostLease"),
    );
    inbox.listener = this;
  }

  // ---------------------------------------------------------------- towards the run and the inbox

  /** Something is in the inbox that was not there before. */
  arrived(): void {
    this.#calm();
    this.#nextTurn("brief");
  }

  get entries(): readonly Entry[] {
    return this.#log.entries;
  }

  /** The step whose body is being called right now, if any. */
  get calling(): string | undefined {
    return this.#bodies.calling;
  }

  /** Something nobody waits for, so far. */
  get hasForgotten(): boolean {
    return this.#requested.unawaited().length > 0 || this.#requested.forgottenStep() !== undefined;
  }

  request(operation: Operation): void {
    const { name } = this.#hooks;
    const { key, kind } = operation;
    const earlier = this.#requested.get(key);
    if (earlier !== undefined) return this.#run.fail(faults.duplicateKey(name, earlier, operation));
    if (kind !== "question" && kind !== "timer") {
      const past = this.#requested.unawaited();
      // Promise.all subscribes a few microtasks later; by the end of the turn it has.
      if (past.length > 0) this.#suspects.push({ operation, past });
    }
    this.#requested.add(operation);
    this.#calm();

    const entry = this.#log.find(key);
    if (entry === undefined && operation.kind === "question" && this.#isImpossible(operation)) {
      // It has called off the watch over the others, who may have stalled.
      if (this.#requested.outstanding > 0) this.#nextTurn("brief");
      return;
    }
    if (entry !== undefined && !fits(operation, entry)) {
      return this.#run.fail(faults.kindChanged(name, entry, operation));
    }
    if (operation.kind === "question" && isAnswered(entry)) {
      if (entry.digest !== operation.asking.digest) this.#misfits.push({ operation, entry });
    }
    this.#nextTurn(this.#isFresh || this.#canOnlyEnd(operation) ? "full" : "brief");
  }

  /** Nothing can be delivered: all that can come of this request is the end of the run, or another request. */
  #canOnlyEnd({ kind }: Operation): boolean {
    const isOpen = kind === "question" || kind === "timer";
    return isOpen && this.#isLive && this.#requested.outstanding === 1 && this.#inbox.isEmpty;
  }

  /** Known from the first request on and the same in every run, so it needs no entry. */
  #isImpossible(operation: QuestionOperation): boolean {
    const { impossible } = operation.asking;
    if (impossible === undefined) return false;
    this.#requested.settled(operation);
    operation.reject(impossible);
    return true;
  }

  isLive(): boolean {
    if (this.#isLive) return true;
    // Where the last run ended waiting, it got further than its last entry: that way has been gone already.
    return this.#log.endsOpen && this.#log.head() === undefined && !this.#isOutMissing();
  }

  /** What is wrong with returning now, if anything. */
  objection(): Error | undefined {
    const [question] = this.#requested.unawaited();
    if (question !== undefined) return faults.notAwaited(question, "return");
    const step = this.#requested.forgottenStep();
    if (step !== undefined) return faults.stepNotAwaited(step);
    const missed = this.#log
      .rest()
      .find((entry) => isEffect(entry) && !this.#requested.has(entry.key));
    return missed && faults.diverged(this.#hooks.name, missed, "returned");
  }

  close(reason: StopReason | "RunEnded"): void {
    this.#calm();
    this.#inbox.listener = undefined;
    this.#bodies.abort(reason);
  }

  // ---------------------------------------------------------------- turns (R4)

  #nextTurn(kind: "brief" | "full"): void {
    if (this.#turn?.kind === kind || this.#turn?.kind === "full" || this.#run.isOver()) return;
    this.#briefTurns = kind === "full" ? 0 : this.#briefTurns + 1;
    // Brief turns let no timer and no request through; a handler must not keep the process to itself.
    if (this.#briefTurns > manyBriefTurns) return this.#nextTurn("full");
    const turn = { kind };
    this.#turn = turn;
    this.#hooks.turns[kind](() => {
      if (this.#turn !== turn) return;
      this.#turn = undefined;
      // While busy there is nothing to look at; whoever is busy asks for the next turn.
      if (!this.#isBusy && !this.#run.isOver()) this.#guard(() => this.#look(kind === "full"));
    });
  }

  /** A hook that throws ends the run: in a turn of its own it would end the process instead. */
  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#run.fail(error);
    }
  }

  /** A turn is over. Quiet: nothing is left of it that could still call an operation. */
  #look(isQuiet: boolean): void {
    if (isQuiet) this.#isFresh = false;
    const fault = this.#notAwaited();
    if (fault !== undefined) return this.#run.fail(fault);
    if (this.#isLive || this.#replay(isQuiet)) this.#goOn(isQuiet);
  }

  /** The next delivery may come now; or else a full turn is asked for. */
  #mayDeliver(isQuiet: boolean): boolean {
    if (isQuiet || this.#requested.outstanding <= 1) return true;
    this.#nextTurn("full");
    return false;
  }

  #notAwaited(): Error | undefined {
    for (const { operation, past } of this.#suspects) {
      const question = past.find(({ isAwaited }) => !isAwaited);
      if (question !== undefined) return faults.notAwaited(question, operation);
    }
    this.#suspects = [];
    return undefined;
  }

  // ---------------------------------------------------------------- replay (R5, R6, R7)

  /** Delivers the head of the log. True once there is nothing left to go over: the run is live. */
  #replay(isQuiet: boolean): boolean {
    if (this.#misfits.length > 0) return this.#cutMisfits();
    const entry = this.#log.head();
    if (entry !== undefined) {
      const operation = this.#requested.get(entry.key);
      if (operation === undefined) this.#watchForStall(isQuiet, () => this.#stalled(entry));
      else if (this.#mayDeliver(isQuiet)) this.#deliver(operation, entry);
      return false;
    }
    if (this.#isOutMissing()) {
      // The code no longer asks something that is out: nobody needs to wait for it.
      this.#watchForStall(isQuiet, () => this.#goLive());
      return false;
    }
    this.#isLive = true;
    return true;
  }

  #isOutMissing(): boolean {
    return this.#out.some(({ key }) => !this.#requested.has(key));
  }

  #goLive(): void {
    this.#isLive = true;
    this.#nextTurn("brief");
  }

  #watchForStall(isQuiet: boolean, then: () => void): void {
    if (this.#requested.outstanding === 0) return this.#idle(isQuiet);
    if (!isQuiet) return this.#nextTurn("full");
    this.#callOffStall ??= this.#hooks.after(this.#hooks.stallMs, () => {
      this.#callOffStall = undefined;
      if (!this.#run.isOver()) then();
    });
  }

  /** Something has happened: whatever looked like a stall is none. */
  #calm(): void {
    this.#callOffStall?.();
    this.#callOffStall = undefined;
  }

  #stalled(head: Entry): void {
    if (head.kind === "checkpoint") {
      // It told the handler nothing, so it can do without.
      this.#log.moveOn();
      return this.#nextTurn("brief");
    }
    const hasEffect = isEffect(head) || this.#log.effectAfter(head) !== undefined;
    if (!hasEffect) return this.#cut(head, []);
    const requested = this.#requested.waiting(
      "question",
      "step",
      "timer",
      "background",
      "checkpoint",
    );
    this.#run.fail(faults.diverged(this.#hooks.name, head, requested));
  }

  /** One cut, at the earliest, serves them all: the later ones are found out in the inbox. */
  #cutMisfits(): false {
    const places = this.#misfits.map(({ entry }) => this.#log.entries.indexOf(entry));
    const earliest = this.#misfits[places.indexOf(Math.min(...places))];
    this.#misfits = [];
    if (earliest !== undefined) this.#answersAnother(earliest.operation, earliest.entry);
    return false;
  }

  /** The recorded answer was given to another question than the one that is asked now. */
  #answersAnother(operation: QuestionOperation, entry: Answered): void {
    const { name } = this.#hooks;
    const effect = this.#log.effectAfter(entry);
    if (this.#log.hasChanged(operation.key)) {
      return this.#run.fail(faults.unstableQuestion(name, operation));
    }
    if (effect !== undefined) {
      const { reason } = operation;
      return this.#run.fail(
        reason === undefined
          ? faults.questionChanged(name, operation, effect)
          : faults.answerRefused(name, operation, reason, effect),
      );
    }
    this.#cut(entry, [{ kind: "changed", key: operation.key }]);
  }

  /** Shortens the log; what was told from here on goes back to the inbox, the notes in it stay. */
  #cut(entry: Entry, notes: readonly Entry[]): void {
    const { from, removed } = this.#log.cut(entry);
    const isSpoilt = notes.length > 0;
    const back = this.#inbox.putBack(isSpoilt ? removed.slice(1) : removed);
    // What was asked on the strength of what is cut off may never be asked again.
    this.#out = [];
    this.#whenReady(
      () => this.#hooks.cut?.(from, back),
      () => this.#note([...removed.filter(({ kind }) => kind === "changed"), ...notes]),
    );
  }

  #note([note, ...more]: readonly Entry[]): void {
    if (note !== undefined) return this.#record(note, () => this.#note(more));
    this.#nextTurn("brief");
  }

  // ---------------------------------------------------------------- live (R3, R8, R9, R11)

  #goOn(isQuiet: boolean): void {
    // One whose answer to another wording was cut off.
    this.#requested.waiting("question").forEach((operation) => this.#isImpossible(operation));
    this.#lookForEnding();
    if (this.#ending === undefined && !this.#startBodies()) return;
    if (this.#tell(isQuiet)) return;
    const open = this.#requested.waiting("question", "timer").map(asOpen);
    if (this.#bodies.running > 0) return this.#publish(isQuiet, open);
    const hasEnd = this.#ending !== undefined || this.#isPutOff || open.length > 0;
    if (!hasEnd) return this.#idle(isQuiet);
    if (!isQuiet) return this.#nextTurn("full");
    this.#suspend(open);
  }

  /** Notes at which `background` or `checkpoint` the run ends; those that need not end it, pass. */
  #lookForEnding(): void {
    for (const operation of this.#requested.waiting("background", "checkpoint")) {
      if (this.#ending !== undefined) return;
      if (this.#isWorthEnding(operation)) {
        this.#ending = operation;
      } else {
        operation.state = "under way";
        this.#finished.push({ operation, entry: { kind: operation.kind, key: operation.key } });
      }
    }
  }

  #isWorthEnding(operation: BackgroundOperation | CheckpointOperation): boolean {
    const { canDetach, canYield } = this.#hooks;
    if (operation.kind === "background") return canDetach;
    if (!this.#bodies.hasRun || canYield === false) return false;
    const { afterMs } = operation;
    return afterMs === undefined || (this.#hooks.elapsedMs?.() ?? 0) >= afterMs;
  }

  /** False where the run may not start any and has ended. */
  #startBodies(): boolean {
    for (const operation of this.#requested.waiting("step")) {
      // What goes with a question that only a task can wait for is left to the task.
      if (operation.isAside && this.#hooks.canDetach) continue;
      const may = this.#hooks.mayStart?.() ?? true;
      if (may === false) {
        this.#run.stop("LostLease");
        return false;
      }
      if (may === "later") {
        this.#isPutOff = true;
        return true;
      }
      const entry = this.#bodies.start(operation);
      if (this.#run.isOver()) return false;
      if (entry !== undefined) this.#finished.push({ operation, entry });
    }
    return true;
  }

  /** Turns one event or finished body into an entry, events first. False if there is none. */
  #tell(isQuiet: boolean): boolean {
    const isWanted = (event: InboxEvent) => this.#isWanted(event);
    const hasEvent = this.#inbox.has(isWanted);
    if (!hasEvent && this.#finished.length === 0) return false;
    if (!this.#mayDeliver(isQuiet)) return true;
    const event = this.#inbox.take(isWanted);
    if (event !== undefined) {
      this.#consume(event);
      return true;
    }
    const finished = this.#finished.shift();
    if (finished !== undefined) this.#recordAndDeliver(finished.operation, finished.entry);
    return true;
  }

  #isWanted({ kind, key, digest }: InboxEvent): boolean {
    const operation = this.#requested.get(key);
    if (operation?.state !== "outstanding") return false;
    if (operation.kind === "timer") return kind === "due";
    if (operation.kind !== "question") return false;
    const { asking } = operation;
    // The time limit of another question, asked under this key before, is none of this one's.
    if (kind === "due") return asking.timeoutMs !== undefined && digest === asking.digest;
    // Without a digest nobody knows what was asked (R7): it stays in the inbox, unused.
    return digest !== undefined || asking.unsolicited === true;
  }

  #consume(event: InboxEvent): void {
    const operation = this.#requested.get(event.key);
    const { key, digest } = event;
    if (operation?.kind !== "question") {
      if (operation !== undefined) this.#recordAndDeliver(operation, { kind: "timer", key });
      return;
    }
    const { asking } = operation;
    if (event.kind === "due") {
      return this.#recordAndDeliver(operation, { kind: "expired", key, digest: asking.digest });
    }
    if (digest !== undefined && digest !== asking.digest) return this.#misread(operation);
    const { value } = event;
    const { admit, read } = asking;
    this.#whenReady(
      () => (admit ?? read)(copyJson(value)),
      (reading) => {
        if (reading.kind === "invalid") {
          operation.reason = reading.reason;
          return this.#nextTurn("brief");
        }
        const entry: Answered = { kind: "answer", key, value, digest: asking.digest };
        if (admit !== undefined) return this.#recordAndDeliver(operation, entry);
        // Read just now, from a copy that nobody else has: what it gave is what is delivered.
        operation.state = "under way";
        this.#record(entry, () => this.#deliverAnswer(operation, entry, reading));
      },
    );
  }

  /** An answer came to a question that has been reworded since it was put: it is put again, once. */
  #misread(operation: QuestionOperation): void {
    if (this.#log.hasChanged(operation.key)) {
      return this.#run.fail(faults.unstableQuestion(this.#hooks.name, operation));
    }
    this.#record({ kind: "changed", key: operation.key }, () => this.#nextTurn("brief"));
  }

  #publish(isQuiet: boolean, open: readonly Open[]): void {
    const { publish } = this.#hooks;
    const state = open.map(({ key, reason }) => `${key}\n${reason}`).join("\n");
    if (publish === undefined || state === this.#published) return;
    if (!isQuiet) return this.#nextTurn("full");
    this.#published = state;
    this.#whenReady(
      () => publish(open),
      () => this.#nextTurn("brief"),
    );
  }

  /** The handler waits for something that is not an operation: nothing to do but to wait as well. */
  #idle(isQuiet: boolean): void {
    if (this.#hooks.onIdle === undefined || this.#bodies.running > 0) return;
    if (isQuiet) this.#hooks.onIdle();
    else this.#nextTurn("full");
  }

  #suspend(open: readonly Open[]): void {
    const ending = this.#ending;
    const unused = this.#inbox
      .unused()
      .filter((event) => event.kind === "answer" && event.digest !== undefined)
      .filter(({ key }) => this.#requested.get(key)?.state !== "settled");
    if (ending === undefined) {
      const kind = this.#isPutOff ? "yielded" : "waiting";
      return this.#run.suspend({ kind, entries: this.entries, open, unused });
    }
    // Its entry is part of what the run hands over, so that the next one goes past it.
    const entries: Entry[] = [...this.entries, { kind: ending.kind, key: ending.key }];
    this.#run.suspend(
      ending.kind === "checkpoint"
        ? { kind: "yielded", entries, open, unused }
        : { kind: "detached", options: ending.options, entries, open, unused },
    );
  }

  // ---------------------------------------------------------------- recording and delivery (R2, R3, R4)

  #recordAndDeliver(operation: Operation, entry: Entry): void {
    operation.state = "under way";
    this.#record(entry, () => this.#deliver(operation, entry));
  }

  /** An entry is durable before anybody hears of it. */
  #record(entry: Entry, then: () => void): void {
    const { append } = this.#hooks;
    const recorded = () => {
      this.#log.push(entry);
      then();
    };
    if (append === undefined) recorded();
    else this.#whenReady(() => append(entry), recorded);
  }

  #deliver(operation: Operation, entry: Entry): void {
    if (operation.kind === "question" && entry.kind === "answer") {
      return this.#whenReady(
        () => operation.asking.read(copyJson(entry.value)),
        (reading) => this.#deliverAnswer(operation, entry, reading),
      );
    }
    this.#settle(operation, () => settleWith(operation, entry));
  }

  #deliverAnswer(operation: QuestionOperation, entry: Answered, reading: Reading): void {
    switch (reading.kind) {
      case "value":
        return this.#settle(operation, () => operation.resolve(reading.value));
      case "refused":
        return this.#settle(operation, () => operation.reject(reading.error));
      case "invalid":
        // It was valid when it was recorded: the schema means something else by now.
        operation.state = "outstanding";
        operation.reason = reading.reason;
        return this.#answersAnother(operation, entry);
    }
  }

  #settle(operation: Operation, settle: () => void): void {
    this.#log.moveOn();
    this.#requested.settled(operation);
    settle();
    // Live, and nothing to wait for: what the handler does next asks for a turn by itself.
    const isDone = this.#isLive && this.#requested.outstanding === 0;
    if (isDone && this.#hooks.onIdle === undefined) return;
    this.#nextTurn(this.#requested.outstanding === 0 ? "brief" : "full");
  }

  /** Goes on at once, or when the promise is there; nothing else is delivered meanwhile. */
  #whenReady<V>(start: () => V | PromiseLike<V>, then: (value: V) => void): void {
    const goOn = (ready: V) => {
      if (!this.#run.isOver()) this.#guard(() => then(ready));
    };
    let value: V | PromiseLike<V>;
    try {
      value = start();
    } catch (error) {
      return this.#run.fail(error);
    }
    if (!isThenable(value)) return goOn(value);
    this.#isBusy = true;
    Promise.resolve(value).then(
      (ready) => {
        this.#isBusy = false;
        goOn(ready);
      },
      (error: unknown) => this.#run.fail(error),
    );
  }
}

function isAnswered(entry: Entry | undefined): entry is Answered {
  return entry?.kind === "answer" || entry?.kind === "expired";
}

function settleWith({ key, resolve, reject }: Operation, entry: Entry): void {
  switch (entry.kind) {
    case "expired":
      return reject(new Unanswered(key, "timed_out"));
    case "step":
      return resolve(entry.value === undefined ? undefined : copyJson(entry.value));
    case "threw":
      return reject(new StepError(key, entry.error));
    case "timer":
    case "background":
    case "checkpoint":
      return resolve(undefined);
    case "answer":
    case "changed":
      throw new Error(`entry "${key}" (${entry.kind}) settles nothing by itself`);
  }
}
