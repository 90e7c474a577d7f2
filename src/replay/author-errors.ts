// The mistakes of an author that the engine finds. Each message says what happened and what to write instead.

import { ParleyError } from "../errors.ts";
import type { Entry } from "./journal.ts";
import type { StepSettings } from "./operations.ts";
import type { NotJson } from "../util/json.ts";

/** An operation, as messages name it. */
export interface NamedOperation {
  readonly kind: "question" | "step" | "timer" | "background" | "checkpoint" | "patched";
  readonly key: string;
  /** File and line in the author's code. Known in development only. */
  readonly place: string | undefined;
}

/** A step that was not awaited before the handler returned. */
export function stepNotAwaited(
  step: NamedOperation & { readonly options?: StepSettings | undefined },
): ParleyError {
  return new ParleyError(
    "not_awaited",
    `${capital(title(step))}${at(step.place)} was started but not awaited before the handler returned, so its outcome would be lost.\n` +
      `Write \`await ctx.${step.options?.streams ?? "step"}("${step.key}", …)\`.`,
  );
}

/** A question that was not awaited before the handler returned or went on to something else. */
export function notAwaited(
  question: NamedOperation & { readonly spec?: { readonly verb?: string | undefined } },
  past: NamedOperation | "return",
): ParleyError {
  const when = past === "return" ? "the handler returned" : `${title(past)}${at(past.place)} began`;
  return new ParleyError(
    "not_awaited",
    `${capital(title(question))}${at(question.place)} was asked but not awaited before ${when}, so the handler would not wait for the answer.\n` +
      `Write \`await ctx.${question.spec?.verb ?? "ask"}("${question.key}", …)\`. To ask while a step runs, use Promise.all([ctx.ask(…), ctx.step(…)]).`,
  );
}

/** Two operations of one run have the same key. */
export function duplicateKey(
  handler: string,
  first: NamedOperation,
  second: NamedOperation,
): ParleyError {
  return new ParleyError(
    "duplicate_key",
    `Key "${first.key}" is used twice in one run of "${handler}": by ${kindAt(first)} and by ${kindAt(second)}.\n` +
      `Each question and step of a call needs its own key. In a loop, add what differs: \`${first.key}-\${i}\`.`,
  );
}

/** A key that is not a string, is empty or too long, contains "~", or is "__proto__". */
export function badKey(handler: string, key: unknown): ParleyError {
  const given =
    typeof key === "string"
      ? `the key ${JSON.stringify(key.slice(0, 80))}`
      : `a key of type ${typeof key}`;
  return new ParleyError(
    "bad_key",
    `"${handler}" uses ${given}. A key is a string of 1 to 200 characters without "~", which is reserved for Parley, and not "__proto__".`,
  );
}

/** A step without a body, or with options that make no sense. Undefined if the step is fine. */
export function badStep(
  key: string,
  body: unknown,
  options: StepSettings = {},
): ParleyError | undefined {
  const { retries = 0, backoffMs = 0, streams: verb = "step" } = options;
  const wrong =
    typeof body !== "function"
      ? `has no body. Pass a function as the second argument of ctx.${verb}`
      : retries >= 0 && backoffMs >= 0
        ? undefined
        : `has retries: ${retries} and backoffMs: ${backoffMs}. Both must be numbers of at least 0`;
  return wrong === undefined
    ? undefined
    : new ParleyError("bad_option", `${capital(verb)} "${key}" ${wrong}.`);
}

/** An operation inside the body of a step. */
export function nested(inner: NamedOperation, step: string): ParleyError {
  const where = `inside step "${step}"${at(inner.place)}`;
  switch (inner.kind) {
    case "question":
      return new ParleyError(
        "ask_in_step",
        `${capital(title(inner))} is asked ${where}. A step runs once and cannot wait for a person.\n` +
          "Ask first, then use the answer in the step.",
      );
    case "timer":
      return new ParleyError(
        "ask_in_step",
        `${capital(title(inner))} is started ${where}. A step runs once and cannot be suspended.\n` +
          "Sleep first, then run the step.",
      );
    case "step":
    case "background":
    case "checkpoint":
    case "patched":
      return new ParleyError(
        "step_in_step",
        `${capital(title(inner))} is used ${where}. A step is recorded as a whole, so everything inside it would run again with it.\n` +
          "Move it out of the step, to before or after it.",
      );
  }
}

/** A step that returned a value that JSON changes or loses. */
export function notJson(step: NamedOperation, cause: NotJson): ParleyError {
  return new ParleyError(
    "not_json",
    `Step "${step.key}"${at(step.place)} returned ${cause.what} at ${cause.path}, which JSON cannot preserve. The result of a step is stored as JSON between rounds.\n` +
      `Return plain data, for example ${cause.advice}.`,
    { cause },
  );
}

/** The journal has an entry of another kind under the key of this operation. */
export function kindChanged(handler: string, entry: Entry, now: NamedOperation): ParleyError {
  return historyChanged(
    handler,
    `the journal has ${recorded(entry)}, but the handler now uses that key for a ${now.kind}${at(now.place)}`,
  );
}

/** The handler does not request the next entry of the journal. */
export function diverged(
  handler: string,
  expected: Entry,
  requested: readonly NamedOperation[] | "returned",
): ParleyError {
  const instead =
    requested === "returned"
      ? "the handler returned without it"
      : `the handler waits for ${requested.map((now) => title(now) + at(now.place)).join(", ")}`;
  return historyChanged(
    handler,
    `the journal continues with ${recorded(expected)}, but ${instead}`,
  );
}

/** Another version of the handler recorded this entry, and the handler does not go that way. */
export function othersEntry(handler: string, entry: Entry): ParleyError {
  return historyChanged(
    handler,
    `another version recorded ${recorded(entry)}, and this version does not reach it`,
  );
}

/** The journal has a note of `patched` that the handler does not ask for. */
export function unaskedPatch(handler: string, key: string): ParleyError {
  return historyChanged(
    handler,
    `the journal notes patched "${key}", but the handler goes on without asking for it`,
  );
}

/** A question whose schema now refuses the answer that it accepted before. */
export function answerRefused(
  handler: string,
  question: NamedOperation,
  reason: string,
  later: Entry,
): ParleyError {
  return historyChanged(
    handler,
    `${title(question)}${at(question.place)} accepted its answer earlier and now refuses it (${reason}), but ${recorded(later)} came after that answer. A schema must depend on the answer alone. Look up anything else in a step`,
  );
}

/** A question whose wording has changed after a step relied on its answer. */
export function questionChanged(
  handler: string,
  question: NamedOperation,
  later: Entry,
): ParleyError {
  return historyChanged(
    handler,
    `${title(question)}${at(question.place)} has changed since it was answered, and ${recorded(later)} came after that answer`,
  );
}

function historyChanged(handler: string, what: string): ParleyError {
  return new ParleyError(
    "history_changed",
    `"${handler}" no longer does what it did earlier in this call: ${what}. No step was run again.\n` +
      "Start a new call. While a tool is in use, do not change the part of its handler that calls have already passed; change what comes after it. Between operations, do not use anything that varies (time, random numbers, data from outside). Get it in a step.\n" +
      'If you added or removed this step on purpose, put it behind `if (await ctx.patched("some-name"))` so that calls under way keep their old path.',
  );
}

/** Whether a run failed because its code is not the code that wrote the journal. */
export function cannotFollow(error: unknown): error is ParleyError {
  return (
    error instanceof ParleyError &&
    (error.code === "history_changed" || error.code === "unstable_question")
  );
}

/** A question whose wording keeps changing. */
export function unstableQuestion(handler: string, question: NamedOperation): ParleyError {
  return new ParleyError(
    "unstable_question",
    `${capital(title(question))}${at(question.place)} of "${handler}" has changed twice in this call, so no answer can be matched to it.\n` +
      "Its message, schema and URL must not depend on anything that varies. Get times, random values and data from outside in a step, and ask with what the step returned.",
  );
}

/** An operation after the end of the run. */
export function usedAfterEnd(handler: string, used: NamedOperation): ParleyError {
  return new ParleyError(
    "ctx_after_return",
    `ctx was used after the handler of "${handler}" had ended (${title(used)}${used.place === undefined ? "" : `, ${used.place}`}). ` +
      "Await everything before you return. Work that outlives the call belongs in a task (ctx.background()).",
  );
}

/** A handler awaits a promise of an earlier run before it does anything else. */
export function keptPromise(handler: string, kept: NamedOperation): ParleyError {
  return new ParleyError(
    "ctx_after_return",
    `"${handler}" awaits ${title(kept)}${at(kept.place)}, which it has kept from an earlier run. That run has ended, so this promise never gets a value.\n` +
      "Call ctx in every run, and do not keep its promises outside the handler.",
  );
}

function title(named: NamedOperation): string {
  return named.kind === "background" || named.kind === "checkpoint"
    ? `${named.kind}()`
    : `${named.kind} "${named.key}"`;
}

function recorded(entry: Entry): string {
  switch (entry.kind) {
    case "answer":
    case "expired":
    case "changed":
      return `question "${entry.key}"`;
    case "begun":
    case "step":
    case "threw":
      return `step "${entry.key}"`;
    case "timer":
      return `timer "${entry.key}"`;
    case "background":
    case "checkpoint":
      return `${entry.kind}()`;
    case "patched":
      return `patched "${entry.key}"`;
  }
}

const at = (place: string | undefined) => (place === undefined ? "" : ` (${place})`);

const kindAt = (named: NamedOperation) =>
  `a ${named.kind}${named.place === undefined ? "" : ` at ${named.place}`}`;

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
