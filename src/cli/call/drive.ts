// Runs a call from its first event to its outcome. Questions are answered by a person at the terminal or by answers given
// in advance. Without either, the call stops and can be resumed.

import type { InputResponse } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import type { Call, CallEvent, CallResult, OpenQuestion } from "../../client/index.ts";
import { stateOf } from "../../client/reference.ts";
import type { GivenAnswers } from "../args/given-answers.ts";
import { plainLine, someOf } from "../screen/plain.ts";
import { askPerson, Interrupted, NotTaken, shownAnswer, Withdrawn } from "../prompts/person.ts";
import { inCommandWords } from "./command-words.ts";
import type { StreamedText } from "./streamed-text.ts";
import { stepsIn, Timeline } from "./timeline.ts";
import { signs, style } from "../screen/style.ts";
import type { Printer } from "../screen/printer.ts";
import { Totals } from "./totals.ts";
import type { TotalsSeen } from "./totals.ts";

/** How long a task may say nothing before the person reads that it goes on. */
const silenceMs = 4_000;

type Ending =
  | { readonly status: "done"; readonly result: CallResult }
  /** The tool itself reported the failure. */
  | { readonly status: "failed"; readonly result: CallResult }
  | { readonly status: "failed"; readonly error: Error }
  | { readonly status: "inputNeeded"; readonly questions: readonly OpenQuestion[] }
  | { readonly status: "interrupted" }
  /** The call is a task now, and this process was to wait no longer than that. */
  | { readonly status: "detached" };

/** How a call ended, and what it took. */
export type Outcome = Ending & {
  readonly taskId: string | undefined;
  readonly totals: TotalsSeen;
};

/** What a call needs while it runs. */
export interface Driver {
  readonly printer: Printer;
  readonly given: GivenAnswers;
  /** Whether a person can be asked. */
  readonly isInteractive: boolean;
  /** Prints what the call streams. Undefined if only the result is printed. */
  readonly streamed?: StreamedText | undefined;
  /** Whether to leave as soon as the call is a task. */
  readonly detaches?: boolean | undefined;
  /** Aborts at Ctrl-C. */
  readonly interrupt: AbortSignal;
}

/** What is called, and how far the call was before this process continued it. */
export interface Called {
  readonly tool: string;
  readonly args: unknown;
  /** The rounds before. */
  readonly rounds?: number | undefined;
  readonly taskId?: string | undefined;
  /** The words after `parley` that continue it, if the journal does not have it. */
  readonly again?: string | undefined;
}

/** Runs a call to its outcome. */
export function drive(call: Call, driver: Driver, called: Called): Promise<Outcome> {
  return new Drive(call, driver, called).run();
}

class Drive {
  readonly #call: Call;
  readonly #driver: Driver;
  readonly #called: Called;
  readonly #totals: Totals;
  readonly #timeline: Timeline;
  readonly #over = new AbortController();
  /** One for each question, by key. It aborts when the server withdraws that question. */
  readonly #withdrawn = new Map<string, AbortController>();
  readonly #stopped: Promise<Ending>;
  #stop: (ending: Ending) => void = () => {};
  #answering: Promise<void> = Promise.resolve();
  #taskId: string | undefined;
  #isTold = false;
  /** How many times questions came that are not all answered yet. */
  #asking = 0;
  #silence: NodeJS.Timeout | undefined;
  #isWaitTold = false;

  constructor(call: Call, driver: Driver, called: Called) {
    this.#call = call;
    this.#called = called;
    this.#taskId = called.taskId;
    this.#totals = new Totals(called.rounds ?? 0);
    this.#driver = driver;
    this.#timeline = new Timeline(driver.printer, this.#totals, called.taskId !== undefined);
    this.#stopped = new Promise((resolve) => {
      this.#stop = resolve;
    });
    const { interrupt } = driver;
    interrupt.addEventListener("abort", () => this.#stop({ status: "interrupted" }));
    if (interrupt.aborted) this.#stop({ status: "interrupted" });
  }

  async run(): Promise<Outcome> {
    this.#timeline.called(this.#called.tool, this.#called.args);
    this.#awaitTask();
    const ending = await Promise.race([this.#events(), this.#stopped]);
    this.#over.abort();
    clearTimeout(this.#silence);
    this.#totals.over();
    // Wait until an open prompt has released the screen.
    await this.#answering.catch(() => {});
    this.#close(ending);
    return { ...ending, taskId: this.#taskId, totals: this.#totals.seen };
  }

  async #events(): Promise<Ending> {
    try {
      for await (const event of this.#call) {
        if (event.type === "done") return this.#done(event.result);
        this.#take(event);
        this.#awaitTask();
      }
      throw new Error("The call ended without a result.");
    } catch (error) {
      return failed(error);
    }
  }

  /** Says once that the call is not stuck, if its task says nothing for a while and asks nothing. */
  #awaitTask(): void {
    clearTimeout(this.#silence);
    const isOver = this.#over.signal.aborted;
    if (this.#taskId === undefined || this.#asking > 0 || this.#isWaitTold || isOver) return;
    this.#silence = setTimeout(() => {
      this.#isWaitTold = true;
      this.#timeline.hints(["Waiting for the task", "Ctrl-C: leave it running, and resume later"]);
    }, silenceMs);
  }

  #take(event: Exclude<CallEvent, { type: "done" }>): void {
    switch (event.type) {
      case "asked":
        this.#asked(event.questions, event.ref);
        break;
      case "task":
        this.#taskId = event.taskId;
        this.#timeline.becameTask(event.taskId);
        if (this.#driver.detaches === true) this.#stop({ status: "detached" });
        break;
      case "progress":
        this.#timeline.progress(event);
        break;
      case "log":
        this.#timeline.logged(event);
        break;
      case "part":
        this.#driver.streamed?.take(event);
        this.#isWaitTold = true; // A line would break the text that has come so far.
        break;
      case "withdrawn":
        this.#withdrawn.get(event.key)?.abort();
        break;
      case "answered":
        break;
    }
  }

  #asked(asked: readonly OpenQuestion[], ref: string): void {
    const { requestState, taskId } = stateOf(ref);
    this.#taskId = taskId;
    this.#timeline.asks(asked);
    // The client answers these with the folders of --root.
    const questions = asked.filter(({ kind }) => kind !== "roots");
    const bytes = requestState === undefined ? undefined : Buffer.byteLength(requestState);
    this.#totals.asked(questions.length, bytes);
    for (const { key } of questions) this.#withdrawn.set(key, new AbortController());
    this.#asking += 1;
    this.#answering = this.#answering.then(async () => {
      await this.#answerAll(questions);
      this.#asking -= 1;
      this.#awaitTask();
    });
  }

  async #answerAll(questions: readonly OpenQuestion[]): Promise<void> {
    const { given, isInteractive } = this.#driver;
    const open: OpenQuestion[] = [];
    try {
      for (const question of questions) {
        const answer = given.for(question);
        if (answer === undefined) open.push(question);
        else await this.#give(question, answer);
      }
      if (open.length > 0 && !isInteractive) {
        return this.#stop({ status: "inputNeeded", questions: open });
      }
      for (const question of open) await this.#ask(question);
    } catch (error) {
      await this.#notAnswered(error);
    }
  }

  async #give(question: OpenQuestion, answer: InputResponse): Promise<void> {
    await this.#call.answer(question.key, answer);
    this.#totals.answered();
    this.#timeline.given(question.key, shownAnswer(question, answer));
  }

  async #ask(question: OpenQuestion): Promise<void> {
    const { printer } = this.#driver;
    const withdrawn = this.#withdrawn.get(question.key)?.signal;
    const signals = [this.#over.signal, ...(withdrawn === undefined ? [] : [withdrawn])];
    const signal = AbortSignal.any(signals);
    if (signal.aborted) return;
    if (!this.#isTold)
      this.#timeline.hints(["Esc: decline or cancel", "Ctrl-C: leave, and resume later"]);
    this.#isTold = true;
    printer.settle();
    try {
      const answer = await printer.quiet((say) => askPerson(question, { signal, say }));
      const ms = this.#totals.answered();
      const refusal = "action" in answer && answer.action !== "accept";
      this.#timeline.answered(ms, refusal ? shownAnswer(question, answer) : "");
      await this.#call.answer(question.key, answer);
    } catch (error) {
      if (isMisfit(error)) {
        printer.line(style.yellow(`   ${plainLine(error.message)}`));
        return this.#ask(question);
      }
      if (!(error instanceof Withdrawn) && !isClosed(error)) throw error;
      this.#totals.answered();
      if (!this.#over.signal.aborted)
        printer.line(style.yellow("   The server withdrew this question."));
    }
  }

  async #notAnswered(why: unknown): Promise<void> {
    if (why instanceof Interrupted) return this.#stop({ status: "interrupted" });
    if (why instanceof NotTaken) {
      await this.#call.cancel().catch(() => {});
      return this.#stop(failed(new CallError("cancelled", why.message)));
    }
    return this.#stop(failed(why));
  }

  #done(result: CallResult): Ending {
    const isError = result.isError === true;
    this.#timeline.done(isError);
    this.#totals.steps = stepsIn(result);
    return isError ? { status: "failed", result } : { status: "done", result };
  }

  #close(ending: Ending): void {
    const { printer, given, detaches = false } = this.#driver;
    if (detaches && this.#taskId === undefined && "result" in ending) {
      printer.line(style.yellow(`${signs.warning} The call ended before it became a task.`));
    }
    if (given.unused.length > 0 && ending.status !== "inputNeeded") {
      const keys = someOf(given.unused);
      printer.line(style.yellow(`${signs.warning} These answers were not used: ${keys}`));
    }
    const sign = {
      done: style.green(signs.done),
      failed: style.red(signs.failed),
      inputNeeded: style.yellow(signs.warning),
      interrupted: style.yellow(signs.warning),
      detached: style.green(signs.done),
    }[ending.status];
    this.#timeline.total(sign);
  }
}

const failed = (why: unknown): Ending => ({
  status: "failed",
  error: inCommandWords(why instanceof Error ? why : new Error(String(why))),
});

const isBadAnswer = (error: unknown): error is CallError =>
  error instanceof CallError && error.code === "bad_answer";
const isMisfit = (error: unknown): error is CallError =>
  isBadAnswer(error) && error.question !== undefined;
/** The question was answered elsewhere, or its time limit passed. */
const isClosed = (error: unknown) => isBadAnswer(error) && error.question === undefined;
