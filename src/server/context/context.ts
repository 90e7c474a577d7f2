// `ctx`: what a handler has.

import type {
  AuthInfo,
  Implementation,
  InputResponses,
  LoggingLevel,
  Root,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { OperationPromise } from "../../replay/promises.ts";
import type { Question } from "../../replay/promises.ts";
import type {
  QuestionSpec,
  BackgroundOptions,
  Operations,
  StepInfo,
  StepOptions,
} from "../../replay/operations.ts";
import type { Ticket } from "../../token/ticket.ts";
import type { FormJson } from "../../protocol/form.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import { choiceForm, confirmForm, formOf } from "../forms/form.ts";
import type { Form } from "../forms/form.ts";
import {
  externalQuestion,
  formQuestion,
  rootsQuestion,
  sampleQuestion,
  urlQuestion,
} from "./questions.ts";
import type { Put, QuestionOptions, Refusal, Sample, SampleParams } from "./questions.ts";
import { reasonOf } from "../forms/issues.ts";
import type { Askable, AnswerOf, Json, OutputOf, Schema, Stored } from "../forms/schema.ts";
import { tenYearsMs } from "../../util/timers.ts";

/** Prompts and resources have this, and so has every tool: write helpers against it. Every member may be destructured. */
export interface Context {
  /** A form. Without a schema: one line of text. A schema of one value (enum, number, string, list) gives that value; an object schema gives the object. */
  readonly ask: {
    (key: string, message: string, schema?: undefined, options?: QuestionOptions): Question<string>;
    <const S extends Schema | FormJson>(
      key: string,
      message: string,
      schema: S & Askable<S>,
      options?: QuestionOptions,
    ): Question<AnswerOf<S>>;
  };
  /** True only if the person said yes; decline and cancel are no. */
  readonly confirm: (
    key: string,
    message: string,
    options?: Omit<QuestionOptions, "unsolicited">,
  ) => Question<boolean>;
  /** One of these. Values may be shown under titles, and may be computed. */
  readonly choose: <const V extends string>(
    key: string,
    message: string,
    choices: readonly (V | { readonly value: V; readonly title: string })[],
    options?: QuestionOptions,
  ) => Question<V>;
  /** The same form with the SDK's parameters and the raw outcome, for code that treats decline and cancel apart. */
  readonly elicit: <const S extends Schema | FormJson>(
    key: string,
    params: { readonly message: string; readonly requestedSchema: S & Askable<S> },
    options?: QuestionOptions,
  ) => Question<
    | { readonly action: "accept"; readonly content: AnswerOf<S> }
    | { readonly action: "decline" | "cancel" }
  >;
  /** Sends the person to a page. A function gets a ticket for the page's URL (OAuth's `state`). Accept means "I will open it": `until` says when it is done. */
  readonly openUrl: (
    key: string,
    message: string,
    url: string | URL | ((ticket: string) => string | URL),
    options?: QuestionOptions & {
      readonly until?: (() => boolean | Promise<boolean>) | undefined;
    },
  ) => Question<void>;
  /** The client's model. (The specification has deprecated sampling and roots; clients serve them until at least 2027-07-28.) */
  readonly sample: (
    key: string,
    prompt: string | SampleParams,
    options?: QuestionOptions,
  ) => Question<Sample>;
  readonly roots: (key?: string, options?: QuestionOptions) => Question<Root[]>;

  /** Runs once per call and is remembered as JSON. Use `idempotencyKey` with services that take one: a crash inside the body repeats it. */
  readonly step: <T>(
    key: string,
    body: (step: StepInfo) => T | Promise<T>,
    options?: StepOptions,
  ) => Promise<Stored<T>>;
  /** Ends this round if it ran a step body, so that any instance goes on from here; else does nothing. */
  readonly checkpoint: (options?: { readonly afterMs?: number | undefined }) => Promise<void>;

  /** Both are silent while a run replays what has happened already. */
  readonly progress: (done: number, total?: number, message?: string) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
  /** May this client be asked this? */
  readonly can: (what: "form" | "url" | "sampling" | "roots" | "task") => boolean;
  /** Who is calling: the same string in every round, and in the task. */
  readonly principal: string | undefined;
  readonly callId: string;
  readonly signal: AbortSignal;
  /** Runs when this run ends, suspended or not: release what it holds. `signal` does not abort on suspend. */
  readonly onRunEnd: (release: () => void) => void;
  /** This round's request. Absent inside a task: what a task needs from it must be taken before `background()`. */
  readonly request: RequestFacts | undefined;

  /** Low-level form: all answers so far, for the SDK's `acceptedContent` and `inputResponse`; the state returned last, checked. */
  readonly answers: InputResponses;
  readonly state: <S extends Schema>(schema: S) => OutputOf<S> | undefined;
}

/** A tool with `task` in its config has this. */
export interface TaskContext extends Context {
  /** From here on this call is a task, if the client can follow one; otherwise it goes on as it is. */
  readonly background: (options?: BackgroundOptions) => Promise<void>;
  /** A timer that outlives this process. */
  readonly sleep: (key: string, ms: number) => Promise<void>;
  /** Waits for someone who is not the caller. `notify` runs once with a ticket; `app.deliver(ticket, value)` answers. */
  readonly waitFor: <S extends Schema>(
    key: string,
    schema: S,
    options: {
      readonly notify: (ticket: string) => void | Promise<void>;
      readonly timeoutMs?: number | undefined;
    },
  ) => Question<OutputOf<S>>;
  /** The task this call has become, once it has. */
  readonly task: { readonly id: string } | undefined;
}

export interface RequestFacts {
  readonly authInfo?: AuthInfo | undefined;
  readonly clientInfo?: Implementation | undefined;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly headers?: Headers | undefined;
}

type TicketKind = Ticket["kind"];

/** What one round, or one run of a task, knows of its call. */
export interface CallFacts {
  readonly callId: string;
  readonly principal: string | undefined;
  readonly request: RequestFacts | undefined;
  readonly task?: { readonly id: string } | undefined;
  readonly can: (ability: Ability) => boolean;
  /** A sealed reference to one question of this call. */
  readonly ticket: (kind: TicketKind, key: string, timeoutMs: number | undefined) => string;
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly progress: (done: number, total?: number, message?: string) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
  readonly onSchemaError: (key: string, error: unknown) => void;
  readonly answers: () => InputResponses;
  readonly state: () => Json | undefined;
  /** The tool's config has `task`. */
  readonly mayBecomeTask: boolean;
  /** `background()` was called, replayed or not. */
  readonly onBackground?: (() => void) | undefined;
  readonly watch?: Watch | undefined;
}

/** For the test kit. */
export interface Watch {
  /** A step was reached, to be run or replayed. */
  readonly onStep: (key: string) => void;
  /** In place of its body. */
  readonly runBody: (key: string, step: StepInfo, body: (step: StepInfo) => unknown) => unknown;
}

/**
 * Getters on a class: a handler that takes `({ id }, { ask })` gets plain functions, and one that uses
 * nothing pays for nothing but this object (R15).
 */
export class HandlerContext implements TaskContext {
  readonly #operations: Operations;
  readonly #facts: CallFacts;

  constructor(operations: Operations, facts: CallFacts) {
    this.#operations = operations;
    this.#facts = facts;
  }

  get ask(): Context["ask"] {
    return (
      key: string,
      message: string,
      schema?: Schema | FormJson,
      options?: QuestionOptions,
      // oxlint-disable-next-line typescript/no-explicit-any -- the overloads say what comes out
    ): any => this.#form("ask", key, message, () => formOf(key, schema), "throws", options);
  }

  get confirm(): Context["confirm"] {
    return (key, message, options) =>
      this.#form("confirm", key, message, () => confirmForm, "is no", {
        timeoutMs: options?.timeoutMs,
      });
  }

  get choose(): Context["choose"] {
    return (key, message, choices, options) =>
      this.#form("choose", key, message, () => choiceForm(key, choices), "throws", options);
  }

  get elicit(): Context["elicit"] {
    return (key, { message, requestedSchema }, options) =>
      this.#form(
        "elicit",
        key,
        message,
        () => formOf(key, requestedSchema),
        "is an outcome",
        options,
      );
  }

  get openUrl(): Context["openUrl"] {
    return (key, message, url, { until, ...options } = {}) =>
      this.#ask(key, () =>
        urlQuestion(this.#put("openUrl", key, options), message, {
          url,
          ticket: () => this.#facts.ticket("url", key, options.timeoutMs),
          isDone: until && (() => this.#becomesTrue(until)),
        }),
      );
  }

  get sample(): Context["sample"] {
    return (key, prompt, options) =>
      this.#ask(key, () => sampleQuestion(this.#put("sample", key, options), prompt));
  }

  get roots(): Context["roots"] {
    return (key = "roots", options) =>
      this.#ask(key, () => rootsQuestion(this.#put("roots", key, options)));
  }

  get step(): Context["step"] {
    return <T>(key: string, body: (step: StepInfo) => T | Promise<T>, options?: StepOptions) => {
      const { watch } = this.#facts;
      watch?.onStep(key);
      const run = watch === undefined ? body : (step: StepInfo) => watch.runBody(key, step, body);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine puts it through JSON
      return this.#operations.step(key, run, options) as Promise<Stored<T>>;
    };
  }

  get checkpoint(): Context["checkpoint"] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its entry has no value
    return (options) => this.#operations.checkpoint(options?.afterMs) as Promise<void>;
  }

  get background(): TaskContext["background"] {
    return (options) => {
      if (!this.#facts.mayBecomeTask) return this.#refuse("background").then(() => {});
      this.#facts.onBackground?.();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its entry has no value
      return this.#operations.background(options) as Promise<void>;
    };
  }

  get sleep(): TaskContext["sleep"] {
    return (key, ms) => {
      if (!this.#facts.mayBecomeTask) return this.#refuse("sleep", key).then(() => {});
      if (!(ms >= 0 && ms <= tenYearsMs)) {
        const range = "a number of milliseconds from 0 to ten years";
        const mistake = new ParleyError("bad_option", `Sleep "${key}" of ${ms} ms: ${range}.`);
        return this.#operations.refuse(key, mistake).then(() => {});
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its entry has no value
      return this.#operations.sleep(key, ms) as Promise<void>;
    };
  }

  get waitFor(): TaskContext["waitFor"] {
    return (key, schema, { notify, timeoutMs }) => {
      if (!this.#facts.mayBecomeTask) return this.#refuse("waitFor", key);
      const wait = this.#ask<OutputOf<typeof schema>>(key, () =>
        externalQuestion(this.#put("waitFor", key, { timeoutMs }), schema),
      );
      const notice = this.#operations.aside(key, () =>
        notify(this.#facts.ticket("external", key, timeoutMs)),
      );
      return together(wait, notice);
    };
  }

  get task(): TaskContext["task"] {
    return this.#facts.task;
  }

  get progress(): Context["progress"] {
    return (done, total, message) => {
      if (this.#operations.isLive()) this.#facts.progress(done, total, message);
    };
  }

  get log(): Context["log"] {
    return (level, data) => {
      if (this.#operations.isLive()) this.#facts.log(level, data);
    };
  }

  get can(): Context["can"] {
    return (what) => this.#facts.can(what);
  }

  get principal(): string | undefined {
    return this.#facts.principal;
  }

  get callId(): string {
    return this.#facts.callId;
  }

  get signal(): AbortSignal {
    return this.#operations.signal();
  }

  get onRunEnd(): Context["onRunEnd"] {
    return (release) => this.#operations.onRunEnd(release);
  }

  get request(): RequestFacts | undefined {
    return this.#facts.request;
  }

  get answers(): InputResponses {
    return this.#facts.answers();
  }

  get state(): Context["state"] {
    return (schema) => stateOf(this.#facts.state(), schema);
  }

  #form<T>(
    verb: string,
    key: string,
    message: string,
    form: () => Form,
    refusal: Refusal,
    options: QuestionOptions | undefined,
  ): Question<T> {
    return this.#ask(key, () =>
      formQuestion(this.#put(verb, key, options), message, form(), refusal),
    );
  }

  /** Types say so; who writes JavaScript would believe that the work outlives the process. */
  #refuse<T>(verb: string, key: string = verb): Question<T> {
    const message = `ctx.${verb}() is for tools that may become tasks: give this one task: "optional" in its config.`;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is never settled
    return this.#operations.refuse(key, new ParleyError("bad_option", message)) as Question<T>;
  }

  #put(verb: string, key: string, options?: QuestionOptions): Put {
    const facts = this.#facts;
    return {
      ...options,
      verb,
      key,
      can: (ability) => facts.can(ability),
      onSchemaError: (of, error) => facts.onSchemaError(of, error),
    };
  }

  /** A question that cannot be put as it is written is a mistake, which no `catch` of the author's should hide (R10). */
  #ask<T>(key: string, make: () => QuestionSpec): Question<T> {
    let question: Question<unknown>;
    try {
      question = this.#operations.ask(key, make());
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      question = this.#operations.refuse(key, error);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `spec.read` gives this type
    return question as Question<T>;
  }

  /** Tries for a while: most people are done with a page soon after they say that they will open it. */
  async #becomesTrue(until: () => boolean | Promise<boolean>): Promise<boolean> {
    const facts = this.#facts;
    let isOver = false;
    this.#operations.onRunEnd(() => {
      isOver = true;
    });
    const giveUpAt = facts.now() + 20_000;
    let pauseMs = 250;
    while (!(await until())) {
      if (isOver || facts.now() + pauseMs > giveUpAt) return false;
      await facts.wait(pauseMs);
      pauseMs = Math.min(pauseMs * 2, 2_000);
    }
    return true;
  }
}

/**
 * A question and the notice that goes with it: over when both are, failed when either is. The question counts as
 * awaited when this one is (R10), no sooner.
 */
function together<T>(question: Question<T>, notice: Promise<unknown>): Question<T> {
  let settle: ((both: Promise<T>) => void) | undefined;
  const both = new Promise<T>((resolve) => {
    settle = resolve;
  });
  let isAwaited = false;
  // Awaited or not, it is the engine's, not the author's to wait for.
  notice.catch(() => {});
  return new OperationPromise(question.key, both, () => {
    if (isAwaited) return;
    isAwaited = true;
    settle?.(Promise.all([question, notice]).then(([value]) => value));
  });
}

/** Sealed by us, so it is what was returned last; a deployment may still have changed what is expected. */
function stateOf<S extends Schema>(state: Json | undefined, schema: S): OutputOf<S> | undefined {
  if (state === undefined) return undefined;
  const result = schema["~standard"].validate(state);
  if (result instanceof Promise) throw new TypeError("ctx.state: the schema must be synchronous");
  if (result.issues !== undefined) {
    throw new TypeError(`ctx.state: ${reasonOf(result.issues)}`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is the schema's output
  return result.value as OutputOf<S>;
}
