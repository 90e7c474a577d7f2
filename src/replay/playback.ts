// How a run gets from what has been told to what is new.
//
//   request   the handler calls an operation: it is noted, and the end of the turn awaited (R4)
//   replay    at the end of a turn the head of the log is delivered, one entry a turn (R5)
//   live      after the last entry: events and finished bodies become entries and are delivered (R3)
//   suspend   nothing happens any more, and something is open (R8)
//
// `#look` is called when a turn is over and decides which of these comes next. Everything else is called
// from there, but for `request`, which the handler calls.

import { StepError, Unanswered } from "../errors.ts";
import { Bodies } from "./bodies.ts";
import * as faults from "./faults.ts";
import type { Hooks, Outcome, Reading } from "./hooks.ts";
import type { Inbox, InboxEvent } from "./inbox.ts";
import { isEffect } from "./journal.ts";
import type { Entry, Journal, Out } from "./journal.ts";
import { copyJson } from "./json.ts";
import { Log } from "./log.ts";
import { asOpen, fits, Operations } from "./operation.ts";
import type { Operation } from "./operation.ts";
import type { StopReason } from "./stop.ts";

/** How a playback ends the run it belongs to. */
export interface Run {
  readonly isOver: () => boolean;
  readonly fail: (error: unknown) => void;
  readonly stop: (reason: StopReason) => void;
  readonly suspend: (outcome: Outcome<never>) => void;
}

export class Playback {
  readonly #hooks: Hooks;
  readonly #inbox: Inbox;
  readonly #log: Log;
  readonly #out: readonly Out[];
  readonly #run: Run;
  readonly #operations = new Operations();
  readonly #bodies: Bodies;

  #isLive = false;
  /** Whether the last delivery left nothing outstanding, so that nothing can overtake it (R4). */
  #wasAlone = true;
  /** An append or a validation is under way: nothing else is delivered meanwhile (R3). */
  #isBusy = false;
  /** The turn whose end is awaited. A full one replaces a brief one, so that one end is heard of. */
  #turn: { readonly kind: "brief" | "full" } | undefined;
  #callOffStall: (() => void) | undefined;

  /** Requested past un-awaited questions; looked at when the turn is over (R10). */
  #suspects: { readonly operation: Operation; readonly past: readonly Operation[] }[] = [];
  /** Questions that read differently from the one answered under their key (R7). */
  #misfits: { readonly operation: Operation; readonly entry: Entry }[] = [];
  /** Entries on their way into the log. */
  readonly #finished: { readonly operation: Operation; readonly entry: Entry }[] = [];
  /** The operation at which the run will end, and as what (R11). */
  #ending: { readonly operation: Operation; readonly as: "detached" | "yielded" } | undefined;
  #published = "";

  constructor(journal: Journal, inbox: Inbox, hooks: Hooks, run: Run) {
    this.#log = new Log(journal.entries);
    this.#out = journal.out;
    this.#inbox = inbox;
    this.#hooks = hooks;
    this.#run = run;
    this.#bodies = new Bodies(
      hooks,
      (operation, entry) => {
        this.#finished.push({ operation, entry });
        this.#acted();
        this.#await("brief");
      },
      (fault) => run.fail(fault),
    );
    inbox.onArrival = () => {
      this.#acted();
      this.#await("brief");
    };
  }

  // ---------------------------------------------------------------- towards the run

  get entries(): readonly Entry[] {
    return this.#log.entries;
  }

  /** The step whose body is being called right now, if any. */
  get calling(): string | undefined {
    return this.#bodies.calling;
  }

  get hasUnawaited(): boolean {
    return this.#operations.unawaited().length > 0;
  }

  request(operation: Operation): void {
    const { name } = this.#hooks;
    const { key, kind, asking } = operation;
    const earlier = this.#operations.get(key);
    if (earlier !== undefined) return this.#run.fail(faults.duplicateKey(name, earlier, operation));
    if (kind !== "question" && kind !== "timer") {
      const past = this.#operations.unawaited();
      // Promise.all subscribes a few microtasks later; by the end of the turn it has.
      if (past.length > 0) this.#suspects.push({ operation, past });
    }
    this.#operations.add(operation);
    this.#acted();

    if (asking?.impossible !== undefined) {
      // Known from the first request on and the same in every run, so it needs no entry.
      this.#operations.settled(operation);
      return operation.reject(asking.impossible);
    }
    const entry = this.#log.find(key);
    if (entry !== undefined && !fits(operation, entry)) {
      return this.#run.fail(faults.kindChanged(name, entry, operation));
    }
    if (entry?.kind === "answer" && entry.digest !== asking?.digest) {
      this.#misfits.push({ operation, entry });
    }
    this.#await("brief");
  }

  isLive(): boolean {
    return this.#isLive || (this.#log.head() === undefined && !this.#isQuestionMissing());
  }

  /** What is wrong with returning now, if anything. */
  objection(): Error | undefined {
    const [question] = this.#operations.unawaited();
    if (question !== undefined) return faults.notAwaited(question, "return");
    const missed = this.#log
      .rest()
      .find((entry) => isEffect(entry) && !this.#operations.has(entry.key));
    return missed && faults.diverged(this.#hooks.name, missed, "returned");
  }

  close(reason: StopReason | "RunEnded"): void {
    this.#callOffStall?.();
    this.#inbox.onArrival = undefined;
    this.#bodies.abort(reason);
  }

  // ---------------------------------------------------------------- turns (R4)

  /** Whatever R8 calls activity. */
  #acted(): void {
    this.#callOffStall?.();
    this.#callOffStall = undefined;
  }

  #await(kind: "brief" | "full"): void {
    if (this.#turn?.kind === kind || this.#turn?.kind === "full" || this.#run.isOver()) return;
    const turn = { kind };
    this.#turn = turn;
    this.#hooks.turns[kind](() => {
      if (this.#turn !== turn) return;
      this.#turn = undefined;
      // While busy there is nothing to look at; whoever is busy asks for the next turn.
      if (!this.#isBusy && !this.#run.isOver()) this.#look(kind === "full");
    });
  }

  /** A turn is over. Quiet: nothing is left of it that could still call an operation. */
  #look(isQuiet: boolean): void {
    const fault = this.#notAwaited();
    if (fault !== undefined) return this.#run.fail(fault);
    if (this.#isLive || this.#replay(isQuiet)) this.#goOn(isQuiet);
  }

  /** The next delivery may come now; or else a full turn is asked for. */
  #mayDeliver(isQuiet: boolean): boolean {
    if (isQuiet || (this.#wasAlone && this.#operations.outstanding <= 1)) return true;
    this.#await("full");
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
      const operation = this.#operations.get(entry.key);
      if (operation === undefined) this.#watchForStall(isQuiet, () => this.#stalled(entry));
      else if (this.#mayDeliver(isQuiet)) this.#deliver(operation, entry);
      return false;
    }
    if (this.#isQuestionMissing()) {
      // The code no longer asks something that is out: nobody needs to wait for it.
      this.#watchForStall(isQuiet, () => this.#goLive());
      return false;
    }
    this.#isLive = true;
    return true;
  }

  #isQuestionMissing(): boolean {
    return this.#out.some(({ key }) => !this.#operations.has(key));
  }

  #goLive(): void {
    this.#isLive = true;
    this.#await("brief");
  }

  #watchForStall(isQuiet: boolean, then: () => void): void {
    if (this.#operations.outstanding === 0) return this.#idle(isQuiet);
    if (!isQuiet) return this.#await("full");
    this.#callOffStall ??= this.#hooks.after(this.#hooks.stallMs, () => {
      this.#callOffStall = undefined;
      if (!this.#run.isOver()) then();
    });
  }

  #stalled(head: Entry): void {
    const effect = isEffect(head) ? head : this.#log.effectAfter(head);
    if (effect === undefined) return this.#cut(head, []);
    const requested = this.#operations.waiting(
      "question",
      "step",
      "timer",
      "background",
      "checkpoint",
    );
    this.#run.fail(faults.diverged(this.#hooks.name, effect, requested));
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
  #answersAnother(operation: Operation, entry: Entry): void {
    const { name } = this.#hooks;
    const effect = this.#log.effectAfter(entry);
    if (this.#log.hasChanged(operation.key)) {
      return this.#run.fail(faults.unstableQuestion(name, operation));
    }
    if (effect !== undefined) {
      return this.#run.fail(faults.questionChanged(name, operation, effect));
    }
    this.#cut(entry, [{ kind: "changed", key: operation.key }]);
  }

  /** Shortens the log; what was told from here on goes back to the inbox, the notes in it stay. */
  #cut(entry: Entry, notes: readonly Entry[]): void {
    const { from, removed } = this.#log.cut(entry);
    const isSpoilt = notes.length > 0;
    this.#inbox.putBack(isSpoilt ? removed.slice(1) : removed);
    this.#whenReady(
      () => this.#hooks.cut?.(from),
      () => this.#note([...removed.filter(({ kind }) => kind === "changed"), ...notes]),
    );
  }

  #note([note, ...more]: readonly Entry[]): void {
    if (note !== undefined) return this.#record(note, () => this.#note(more));
    this.#acted();
    this.#await("brief");
  }

  // ---------------------------------------------------------------- live (R3, R8, R9, R11)

  #goOn(isQuiet: boolean): void {
    this.#lookForEnding();
    if (this.#ending === undefined && !this.#startBodies()) return;
    if (this.#tell(isQuiet)) return;
    const open = this.#operations.waiting("question", "timer").map(asOpen);
    if (this.#bodies.running > 0) return this.#publish(isQuiet, open);
    if (this.#ending === undefined && open.length === 0) return this.#idle(isQuiet);
    if (!isQuiet) return this.#await("full");
    this.#suspend();
  }

  /** Notes at which `background` or `checkpoint` the run ends; those that need not end it, pass. */
  #lookForEnding(): void {
    for (const operation of this.#operations.waiting("background", "checkpoint")) {
      if (this.#ending !== undefined) return;
      if (operation.kind === "background" && this.#hooks.canDetach) {
        this.#ending = { operation, as: "detached" };
      } else if (operation.kind === "checkpoint" && this.#isWorthYielding(operation)) {
        this.#ending = { operation, as: "yielded" };
      } else {
        operation.state = "under way";
        this.#finished.push({ operation, entry: ending(operation) });
      }
    }
  }

  #isWorthYielding({ ms }: Operation): boolean {
    if (!this.#bodies.hasRun) return false;
    return ms === undefined || (this.#hooks.elapsedMs?.() ?? 0) >= ms;
  }

  /** False where the run may not start any and has ended. */
  #startBodies(): boolean {
    for (const operation of this.#operations.waiting("step")) {
      if (this.#hooks.mayStart?.() === false) {
        this.#run.stop("LostLease");
        return false;
      }
      this.#acted();
      this.#bodies.start(operation);
      if (this.#run.isOver()) return false;
    }
    return true;
  }

  /** Turns one event or finished body into an entry. False if there is none. */
  #tell(isQuiet: boolean): boolean {
    const isWanted = (event: InboxEvent) => this.#isWanted(event);
    const hasEvent = this.#inbox.has(isWanted);
    if (!hasEvent && this.#finished.length === 0) return false;
    if (!this.#mayDeliver(isQuiet)) return true;
    const event = hasEvent ? this.#inbox.take(isWanted) : undefined;
    if (event !== undefined) {
      this.#consume(event);
      return true;
    }
    const finished = this.#finished.shift();
    if (finished !== undefined) this.#recordAndDeliver(finished.operation, finished.entry);
    return true;
  }

  #isWanted(event: InboxEvent): boolean {
    const operation = this.#operations.get(event.key);
    if (operation?.state !== "outstanding") return false;
    if (operation.kind === "timer") return event.kind === "due";
    if (operation.asking === undefined) return false;
    if (event.kind === "due") return operation.asking.timeoutMs !== undefined;
    // Without a digest nobody knows what was asked (R7): it stays in the inbox, unused.
    return event.digest !== undefined || operation.asking.unsolicited === true;
  }

  #consume(event: InboxEvent): void {
    const operation = this.#operations.get(event.key);
    if (operation === undefined) return;
    const { asking, key, kind } = operation;
    if (event.kind === "due" || asking === undefined) {
      return this.#recordAndDeliver(operation, {
        kind: kind === "timer" ? "timer" : "expired",
        key,
      });
    }
    const { value, digest } = event;
    if (digest !== undefined && digest !== asking.digest) return this.#misread(operation);
    const admit = asking.admit ?? asking.read;
    this.#whenReady(
      () => admit(copyJson(value)),
      (reading) => {
        this.#acted();
        if (reading.kind !== "invalid") {
          const entry: Entry = { kind: "answer", key, value, digest: asking.digest };
          return this.#recordAndDeliver(operation, entry);
        }
        operation.reason = reading.reason;
        this.#await("brief");
      },
    );
  }

  /** An answer came to a question that has been reworded since it was put: it is put again, once. */
  #misread(operation: Operation): void {
    if (this.#log.hasChanged(operation.key)) {
      return this.#run.fail(faults.unstableQuestion(this.#hooks.name, operation));
    }
    this.#record({ kind: "changed", key: operation.key }, () => this.#await("brief"));
  }

  #publish(isQuiet: boolean, open: Parameters<NonNullable<Hooks["publish"]>>[0]): void {
    const { publish } = this.#hooks;
    const state = open.map(({ key, reason }) => `${key}\n${reason}`).join("\n");
    if (publish === undefined || state === this.#published) return;
    if (!isQuiet) return this.#await("full");
    this.#published = state;
    this.#whenReady(
      () => publish(open),
      () => this.#await("brief"),
    );
  }

  /** The handler waits for something that is not an operation: nothing to do but to wait as well. */
  #idle(isQuiet: boolean): void {
    if (this.#hooks.onIdle === undefined || this.#bodies.running > 0) return;
    if (isQuiet) this.#hooks.onIdle();
    else this.#await("full");
  }

  #suspend(): void {
    const open = this.#operations.waiting("question", "timer").map(asOpen);
    const unused = this.#inbox
      .unused()
      .filter((event) => event.kind === "answer" && event.digest !== undefined)
      .filter(({ key }) => this.#operations.get(key)?.state !== "settled");
    if (this.#ending === undefined) {
      return this.#run.suspend({ kind: "waiting", entries: this.entries, open, unused });
    }
    // Its entry is part of what the run hands over, so that the next one goes past it.
    const { operation, as } = this.#ending;
    const entries = [...this.entries, ending(operation)];
    this.#run.suspend(
      as === "yielded"
        ? { kind: "yielded", entries, open, unused }
        : { kind: "detached", options: operation.background ?? {}, entries, open, unused },
    );
  }

  // ---------------------------------------------------------------- recording and delivery (R2, R3, R4)

  #recordAndDeliver(operation: Operation, entry: Entry): void {
    operation.state = "under way";
    this.#record(entry, () => this.#deliver(operation, entry));
  }

  /** An entry is durable before anybody hears of it. */
  #record(entry: Entry, then: () => void): void {
    this.#whenReady(
      () => this.#hooks.append?.(entry),
      () => {
        this.#log.push(entry);
        this.#acted();
        then();
      },
    );
  }

  #deliver(operation: Operation, entry: Entry): void {
    const { key, asking } = operation;
    switch (entry.kind) {
      case "answer":
        if (asking === undefined) return;
        return this.#whenReady(
          () => asking.read(copyJson(entry.value)),
          (reading) => this.#deliverAnswer(operation, entry, reading),
        );
      case "expired":
        return this.#settle(operation, () => operation.reject(new Unanswered(key, "timed_out")));
      case "step": {
        const { value } = entry;
        return this.#settle(operation, () =>
          operation.resolve(value === undefined ? undefined : copyJson(value)),
        );
      }
      case "threw":
        return this.#settle(operation, () => operation.reject(new StepError(key, entry.error)));
      case "timer":
      case "background":
      case "checkpoint":
        return this.#settle(operation, () => operation.resolve(undefined));
      case "changed":
    }
  }

  #deliverAnswer(operation: Operation, entry: Entry, reading: Reading): void {
    switch (reading.kind) {
      case "value":
        return this.#settle(operation, () => operation.resolve(reading.value));
      case "refused":
        return this.#settle(operation, () => operation.reject(reading.error));
      case "invalid":
        // It was valid when it was recorded: the schema means something else by now.
        operation.state = "outstanding";
        return this.#answersAnother(operation, entry);
    }
  }

  #settle(operation: Operation, settle: () => void): void {
    this.#log.moveOn();
    this.#operations.settled(operation);
    this.#wasAlone = this.#operations.outstanding === 0;
    this.#acted();
    settle();
    this.#await(this.#wasAlone ? "brief" : "full");
  }

  /** Goes on at once, or when the promise is there; nothing else is delivered meanwhile. */
  #whenReady<V>(start: () => V | Promise<V>, then: (value: V) => void): void {
    let value: V | Promise<V>;
    try {
      value = start();
    } catch (error) {
      return this.#run.fail(error);
    }
    if (!(value instanceof Promise)) return then(value);
    this.#isBusy = true;
    value.then(
      (ready) => {
        this.#isBusy = false;
        if (!this.#run.isOver()) then(ready);
      },
      (error: unknown) => this.#run.fail(error),
    );
  }
}

function ending({ kind, key }: Operation): Entry {
  return { kind: kind === "background" ? "background" : "checkpoint", key };
}
