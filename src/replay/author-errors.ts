// The engine's complaints to the author. Each says what happened and what to write instead.

import { ParleyError } from "../errors.ts";
import type { Entry } from "./journal.ts";
import type { NotJson } from "../util/json.ts";

export interface Named {
  readonly kind: "question" | "step" | "timer" | "background" | "checkpoint";
  readonly key: string;
  readonly place: string | undefined;
}

export function stepNotAwaited(step: Named): ParleyError {
  return new ParleyError(
    "not_awaited",
    `${capital(title(step))}${at(step.place)} was begun but not awaited when the handler returned, so nobody knows what becomes of it.\n` +
      `Write \`await ctx.step("${step.key}", …)\`.`,
  );
}

export function notAwaited(
  question: Named & { readonly asking?: { readonly verb?: string | undefined } },
  past: Named | "return",
): ParleyError {
  const when = past === "return" ? "the handler returned" : `${title(past)} began${at(past.place)}`;
  return new ParleyError(
    "not_awaited",
    `${capital(title(question))}${at(question.place)} was asked but not awaited when ${when}, so nothing would wait for the answer.\n` +
      `Write \`await ctx.${question.asking?.verb ?? "ask"}("${question.key}", …)\`. To ask while a step runs, use Promise.all([ctx.ask(…), ctx.step(…)]).`,
  );
}

export function duplicateKey(handler: string, first: Named, second: Named): ParleyError {
  return new ParleyError(
    "duplicate_key",
    `Key "${first.key}" is used twice in one run of "${handler}": ${kindAt(first)}, ${kindAt(second)}.\n` +
      `A key names one question or step of the call. In a loop, add what differs: \`${first.key}-\${i}\`.`,
  );
}

export function badKey(handler: string, key: unknown): ParleyError {
  const given = typeof key === "string" ? JSON.stringify(key.slice(0, 80)) : typeof key;
  return new ParleyError(
    "bad_key",
    `A key of "${handler}" is ${given}. A key is a text of 1 to 200 characters without "~", which is kept for Parley's own.`,
  );
}

export function badStep(
  key: string,
  body: unknown,
  options: { readonly retries?: number | undefined; readonly backoffMs?: number | undefined } = {},
): ParleyError | undefined {
  const { retries = 0, backoffMs = 0 } = options;
  const wrong =
    typeof body !== "function"
      ? "has no body: pass a function as its second argument"
      : retries >= 0 && backoffMs >= 0
        ? undefined
        : `has retries ${retries} and backoffMs ${backoffMs}; both are numbers of 0 or more`;
  return wrong === undefined ? undefined : new ParleyError("bad_option", `Step "${key}" ${wrong}.`);
}

export function nested(inner: Named, step: string): ParleyError {
  return inner.kind === "question" || inner.kind === "timer"
    ? new ParleyError(
        "ask_in_step",
        `${capital(title(inner))} is asked inside step "${step}"${at(inner.place)}. A step runs once and cannot wait for a person.\n` +
          "Ask first, then use the answer in the step.",
      )
    : new ParleyError(
        "step_in_step",
        `${capital(title(inner))} is used inside step "${step}"${at(inner.place)}. A step is recorded as one: what is inside it would run again with it.\n` +
          "Make them two steps, one after the other.",
      );
}

export function notJson(step: Named, cause: NotJson): ParleyError {
  return new ParleyError(
    "not_json",
    `Step "${step.key}"${at(step.place)} returned ${cause.what} at ${cause.path}, which JSON does not bring back. A step's result is kept as JSON between rounds.\n` +
      `Return plain data, for example ${cause.advice}.`,
    { cause },
  );
}

export function kindChanged(handler: string, entry: Entry, now: Named): ParleyError {
  return historyChanged(
    handler,
    `${recorded(entry)} is recorded under that key, but it is a ${now.kind} now${at(now.place)}`,
  );
}

export function diverged(
  handler: string,
  expected: Entry,
  requested: readonly Named[] | "returned",
): ParleyError {
  const instead =
    requested === "returned"
      ? "it has returned without it"
      : `it waits for ${requested.map((now) => title(now) + at(now.place)).join(", ")}`;
  return historyChanged(handler, `${recorded(expected)} is recorded next, but ${instead}`);
}

/** The wording is the same, but its schema says otherwise than it did. */
export function answerRefused(
  handler: string,
  question: Named,
  reason: string,
  later: Entry,
): ParleyError {
  return historyChanged(
    handler,
    `the answer to ${title(question)}${at(question.place)} was taken once and is refused now (${reason}), and ${recorded(later)} came after it. A schema must look at the answer alone; what it depends on is looked up in a step`,
  );
}

export function questionChanged(handler: string, question: Named, later: Entry): ParleyError {
  return historyChanged(
    handler,
    `${title(question)}${at(question.place)} asks something else than what was answered, and ${recorded(later)} came after that answer`,
  );
}

function historyChanged(handler: string, what: string): ParleyError {
  return new ParleyError(
    "history_changed",
    `"${handler}" does not do what it did earlier in this call: ${what}. Nothing was run again.\n` +
      "Start the call anew. What has been recorded must stay as it is in a tool that is in use: change what comes after it. And between two operations use nothing that changes (time, random numbers, data from outside): that belongs in a step.",
  );
}

export function unstableQuestion(handler: string, question: Named): ParleyError {
  return new ParleyError(
    "unstable_question",
    `${capital(title(question))}${at(question.place)} of "${handler}" has changed twice in this call, so no answer can be matched to it.\n` +
      "Its message, schema and URL must depend on nothing that changes: take times, random values and data from outside in a step, and ask with what the step returned.",
  );
}

export function usedAfterEnd(handler: string, used: Named): ParleyError {
  return new ParleyError(
    "ctx_after_return",
    `ctx was used after the handler of "${handler}" had ended (${title(used)}${used.place === undefined ? "" : `, ${used.place}`}). ` +
      "Await everything before returning; what must outlive the call belongs in a task (ctx.background()).",
  );
}

function title(named: Named): string {
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
    case "step":
    case "threw":
      return `step "${entry.key}"`;
    case "timer":
      return `timer "${entry.key}"`;
    case "background":
    case "checkpoint":
      return `${entry.kind}()`;
  }
}

const at = (place: string | undefined) => (place === undefined ? "" : ` (${place})`);

const kindAt = (named: Named) =>
  `${named.kind}${named.place === undefined ? "" : ` at ${named.place}`}`;

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
