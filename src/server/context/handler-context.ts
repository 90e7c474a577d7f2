// Long on purpose: one member for each operation of `ctx`.
// `ctx` as a class: each operation builds a question or a step and hands it to the engine.

import type { InputResponses } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import { isExtensionId } from "../../protocol/capabilities.ts";
import type { Era } from "../../protocol/versions.ts";
import type { FormJson } from "../../protocol/form.ts";
import type {
  QuestionSpec,
  Operations,
  StepInfo,
  StepOptions,
  StepSettings,
} from "../../replay/operations.ts";
import type { Question } from "../../replay/promises.ts";
import { tenYearsMs } from "../../util/timers.ts";
import { choiceForm, confirmForm, formOf } from "../forms/form.ts";
import type { Form } from "../forms/form.ts";
import type { OutputOf, Schema, Stored } from "../forms/schema.ts";
import { isRequirable, keptAs, requirableWords } from "../define/abilities.ts";
import { approve } from "../approvals/approve.ts";
import { checkedAbout } from "../pages/page-question.ts";
import type { Context, RequestFacts, TaskContext, UndoableStep } from "./context.ts";
import type { CallFacts } from "./call-facts.ts";
import type { QuestionOptions } from "./question-options.ts";
import type { OpenUrlOptions, PageUrl } from "./wait-options.ts";
import type { Privacy } from "../round/ways.ts";
import type { Undo } from "../define/undo.ts";
import { stateOf } from "./low-level.ts";
import { joined, notified, notifyRetries, WaitNotice } from "./notice.ts";
import { rootsQuestion, sampleQuestion } from "./model-questions.ts";
import { connect } from "../accounts/known-provider.ts";
import { externalQuestion, formQuestion, urlQuestion } from "./questions.ts";
import type { OnRefusal, QuestionParams } from "./questions.ts";
import { observedBody } from "./observed-body.ts";
import { startEmit, startStream } from "./stream.ts";

/** The options of a question, whichever of them its kind has. */
interface AskedWith extends Privacy {
  readonly timeoutMs?: number | undefined;
  readonly unsolicited?: boolean | undefined;
}

/**
 * The operations are getters that return functions, so that a handler can destructure them: `({ id }, { ask }) => …`. A
 * handler that uses none of them pays only for this one object (R15).
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
      // oxlint-disable-next-line typescript/no-explicit-any -- the signature says what comes out
    ): any => this.#form("ask", key, message, () => formOf(key, schema), "throws", options);
  }

  get confirm(): Context["confirm"] {
    return (key, message, options) =>
      this.#form("confirm", key, message, () => confirmForm, "is_no", {
        timeoutMs: options?.timeoutMs,
        relay: options?.relay,
        isConfirmation: true,
      });
  }

  get approve(): TaskContext["approve"] {
    return (key, message, options) =>
      approve(this, this.#operations, this.#facts, key, message, options);
  }

  get choose(): Context["choose"] {
    return (key, message, choices, options) =>
      this.#form("choose", key, message, () => choiceForm(key, choices), "throws", options);
  }

  get elicit(): Context["elicit"] {
    return (key, { message, requestedSchema }, options) =>
      this.#form("elicit", key, message, () => formOf(key, requestedSchema), "is_outcome", options);
  }

  get openUrl(): Context["openUrl"] {
    return (
      key: string,
      message: string,
      url: PageUrl,
      given?: OpenUrlOptions,
      // oxlint-disable-next-line typescript/no-explicit-any -- the overloads say what comes out
    ): any => {
      const { until, schema, ...options }: OpenUrlOptions = given ?? {};
      return this.#ask(key, () =>
        urlQuestion(this.#params("openUrl", key, options), message, {
          url,
          ticket: () => this.#facts.ticket("url", key, options.timeoutMs),
          isDone: until && (() => this.#becomesTrue(until)),
          schema,
        }),
      );
    };
  }

  get connect(): Context["connect"] {
    return (...to) => connect(this.#operations, this.#facts, ...to);
  }

  get sample(): Context["sample"] {
    return (key, prompt, options) =>
      this.#ask(key, () => sampleQuestion(this.#params("sample", key, options), prompt));
  }

  get roots(): Context["roots"] {
    return (key = "roots", options) =>
      this.#ask(key, () => rootsQuestion(this.#params("roots", key, options)));
  }

  get step(): UndoableStep {
    return <T>(
      key: string,
      body: (step: StepInfo) => T | Promise<T>,
      options?: StepOptions & { readonly undo?: Undo<never> | undefined },
    ) => {
      const undo = options?.undo;
      const mistake = undo === undefined ? undefined : this.#facts.objectionToUndo(key, undo);
      if (mistake !== undefined) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is never settled
        return this.#operations.refuse(key, mistake) as unknown as Promise<Stored<T>>;
      }
      const run = observedBody(this.#facts, key, body);
      const settings = undo === undefined ? options : { ...options, undo: undo.name };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine puts it through JSON
      return this.#operations.step(key, run, settings as StepSettings) as Promise<Stored<T>>;
    };
  }

  get stream(): Context["stream"] {
    return (key, body, options) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the option decides what comes out
      startStream(this.#operations, this.#facts, key, body, options) as Promise<never>;
  }

  get emit(): Context["emit"] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nobody looks at its value
    return (...piece) => startEmit(this.#operations, this.#facts, ...piece) as Promise<void>;
  }

  get checkpoint(): Context["checkpoint"] {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its entry has no value
    return (options) => this.#operations.checkpoint(options?.afterMs) as Promise<void>;
  }

  get patched(): Context["patched"] {
    return (key) => this.#operations.patched(key);
  }

  get background(): TaskContext["background"] {
    return (options) => {
      if (!this.#facts.mayBecomeTask) return this.#refuse("background").then(() => {});
      this.#facts.onBackground();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its entry has no value
      return this.#operations.background(options) as Promise<void>;
    };
  }

  get sleep(): TaskContext["sleep"] {
    return (key, ms) => {
      if (!this.#facts.mayBecomeTask) return this.#refuse("sleep", key).then(() => {});
      if (!(ms >= 0 && ms <= tenYearsMs)) {
        const message = `Sleep "${key}" lasts ${ms} ms. Pass a number of milliseconds from 0 to ten years.`;
        const mistake = new ParleyError("bad_option", message);
        return this.#operations.refuse(key, mistake).then(() => {});
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its entry has no value
      return this.#operations.sleep(key, ms) as Promise<void>;
    };
  }

  get waitFor(): TaskContext["waitFor"] {
    return (key, schema, { notify, about, timeoutMs }) => {
      const facts = this.#facts;
      if (!facts.mayBecomeTask) return this.#refuse("waitFor", key);
      const wait = this.#ask<OutputOf<typeof schema>>(key, () => {
        const params = this.#params("waitFor", key, { timeoutMs });
        return externalQuestion(params, schema, checkedAbout(key, about));
      });
      const body = (step: StepInfo) => {
        // Not for a question that fails at once, because this client cannot follow the task that would wait.
        if (!facts.can("task")) return undefined;
        const ticket = facts.ticket("external", key, timeoutMs);
        return notified(notify, new WaitNotice(key, ticket, facts.pageAddress(ticket), step));
      };
      return joined(wait, this.#operations.aside(key, body, notifyRetries));
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
    return (what) =>
      what === "ask" ? this.#facts.way(ordinary) !== undefined : this.#facts.can(offered(what));
  }

  get principal(): string | undefined {
    return this.#facts.principal;
  }

  get era(): Era {
    return this.#facts.era;
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

  /** For what is asked before the handler runs. */
  get engine(): { readonly operations: Operations; readonly facts: CallFacts } {
    return { operations: this.#operations, facts: this.#facts };
  }

  /** Asks a question that is made from what is known of the call, for tools that do not ask through `ctx`. */
  askAs<T>(
    verb: string,
    key: string,
    options: AskedWith,
    make: (question: QuestionParams) => QuestionSpec,
  ): Question<T> {
    return this.#ask(key, () => make(this.#params(verb, key, options)));
  }

  #form<T>(
    verb: string,
    key: string,
    message: string,
    form: () => Form,
    onRefusal: OnRefusal,
    options: AskedWith | undefined,
  ): Question<T> {
    return this.#ask(key, () =>
      formQuestion(this.#params(verb, key, options), message, form(), onRefusal),
    );
  }

  /** TypeScript rejects this already. A JavaScript author would otherwise believe that the work outlives the process. */
  #refuse<T>(verb: string, key: string = verb): Question<T> {
    const message = `ctx.${verb}() works only in tools that may become tasks. Add task: "optional" to this tool's config.`;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is never settled
    return this.#operations.refuse(key, new ParleyError("bad_option", message)) as Question<T>;
  }

  #params(verb: string, key: string, options?: AskedWith): QuestionParams {
    // Written out, because this runs for each question of each round and a spread is slow.
    return {
      verb,
      key,
      call: this.#facts,
      timeoutMs: options?.timeoutMs,
      unsolicited: options?.unsolicited,
      sensitive: options?.sensitive,
      relay: options?.relay,
      isConfirmation: options?.isConfirmation,
    };
  }

  /** A question with a mistake in it fails the run, so that no `catch` in the handler hides the mistake (R10). */
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

  /** Checks for up to 20 seconds, because most people finish with a page soon after they agree to open it. */
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

/** A question that the model may relay. */
const ordinary: Privacy = { relay: true };

/**
 * What the author asks for, as the call keeps it. For JavaScript authors: a misspelt word would look like a missing
 * capability.
 */
function offered(what: string): Ability | ExtensionId {
  if ((isRequirable(what) && what !== "ask") || isExtensionId(what)) return keptAs(what);
  throw new ParleyError(
    "bad_option",
    `ctx.can(${JSON.stringify(what)}): unknown word. Use ${requirableWords}, or the id of an extension, such as io.example/ext.`,
  );
}
