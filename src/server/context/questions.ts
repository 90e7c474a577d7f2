// The questions of `ctx`: how each is shown to the client, and how its answer is read.

import { ParleyError, UnansweredError } from "../../errors.ts";
import { elicitAnswer, unansweredReason } from "../../protocol/answers.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import type { QuestionSpec, Reading } from "../../replay/operations.ts";
import { shortDigest } from "../../token/canonical.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import type { Form, Read } from "../forms/form.ts";
import { reasonOf } from "../forms/issues.ts";
import type { Schema } from "../forms/schema.ts";
import { tenYearsMs } from "../../util/timers.ts";
import { inWords, notAsked, Unsupported } from "./unsupported-question.ts";
import type { CallFacts } from "./call-facts.ts";
import { pausesFor } from "../round/ways.ts";
import type { Privacy, Way } from "../round/ways.ts";
import { isPending } from "../pages/pending.ts";
import { pageOfSchema } from "../pages/page-question.ts";
import type { About, PageQuestion } from "../pages/page-question.ts";
import type { AuditedQuestion } from "../audit/audited-question.ts";
import type { PageUrl } from "./wait-options.ts";

/** A question that the client is shown. */
export interface ShownQuestion {
  /** Writes the input request when the question goes out, with the reason if it is asked again, and the ticket of its page. */
  readonly request: (reason: string | undefined, ticket?: string) => InputRequest;
  /** Set if a page brings the answer. What the client says about such a question is not the answer. */
  readonly page?: (() => PageQuestion) | undefined;
  /** Set if no `requestState` can travel with the question. */
  readonly pausingWay?: Way | undefined;
  readonly audited?: AuditedQuestion | undefined;
}

/** Tells a question for the client from one that someone else answers. */
export function isShown(value: unknown): value is ShownQuestion {
  return typeof value === "object" && value !== null && "request" in value;
}

/** What every kind of question is made from. */
export interface QuestionParams extends Privacy {
  readonly timeoutMs?: number | undefined;
  readonly unsolicited?: boolean | undefined;
  readonly key: string;
  /** What a question needs to know of its call. */
  readonly call: Pick<
    CallFacts,
    "name" | "can" | "way" | "hasPages" | "pageAddress" | "onSchemaError"
  >;
  /** The member of `ctx` that asks, for messages. */
  readonly verb: string;
}

// ---------------------------------------------------------------- forms

/** What a declined or cancelled question becomes: an error, the value false, or an outcome with its action. */
export type OnRefusal = "throws" | "is_no" | "is_outcome";

/** A question with a form. */
export function formQuestion(
  question: QuestionParams,
  message: string,
  form: Form,
  onRefusal: OnRefusal,
): QuestionSpec {
  if (typeof message !== "string") throw noMessage(question);
  const way = formWay(question);
  return {
    // The members of `common`, one by one, because this runs in every round and a spread is slow.
    digest: formDigest(question.key, message, form),
    timeoutMs: timeLimit(question),
    // What comes without a token cannot come from the page.
    unsolicited: hasPage(way) ? undefined : question.unsolicited,
    verb: question.verb,
    via: way,
    impossible:
      way === undefined ? notAsked(question, inWords(message, form.requestedSchema)) : undefined,
    read: (raw) => {
      if (isPending(raw)) return notFinished;
      const answer = elicitAnswer(raw);
      if (answer === undefined) return wrongKind("the answer to a form");
      if (answer.action !== "accept") return refused(question.key, answer.action, onRefusal, raw);
      const read = form.read(answer.content);
      return read instanceof Promise
        ? read.then((later) => accepted(question, later, onRefusal))
        : accepted(question, read, onRefusal);
    },
    shown: {
      request: (reason, ticket) =>
        ticket === undefined
          ? {
              method: "elicitation/create",
              params: {
                mode: "form",
                message: again(message, reason),
                requestedSchema: form.requestedSchema,
              },
            }
          : urlRequest(message, reason, question.call.pageAddress(ticket) ?? ""),
      pausingWay: pausesFor(way) ? way : undefined,
      audited: { message, via: way, isSecret: question.sensitive },
      page: hasPage(way)
        ? () => ({ message, form: form.requestedSchema, isSecret: question.sensitive })
        : undefined,
    } satisfies ShownQuestion,
  };
}

const hasPage = (way: Way | undefined): boolean => way === "url" || way === "link";

/** What a page that is not done yet makes of an answer. */
export const notFinished: Reading = { kind: "invalid", reason: "Not finished yet" };

/** The request of a question that a page answers. */
export const urlRequest = (
  message: string,
  reason: string | undefined,
  url: string,
): InputRequest => ({
  method: "elicitation/create",
  params: { mode: "url", message: reason === undefined ? message : `${reason}: ${message}`, url },
});

function formWay(question: QuestionParams): Way | undefined {
  const { key, sensitive, relay } = question;
  // For JavaScript authors.
  if (sensitive === true && relay === true) {
    throw new ParleyError(
      "bad_option",
      `Question "${key}" is sensitive and has relay: true. A secret never goes through a model: remove one of them.`,
    );
  }
  const way = question.call.way(question);
  if (way === undefined && sensitive === true && !question.call.hasPages()) {
    throw new ParleyError(
      "no_url",
      `Question "${key}" is sensitive, so it needs a page, but the app has no public address. Pass parley({ url: "https://…" }).`,
    );
  }
  return way;
}

/** For JavaScript authors, who easily forget the key. */
function noMessage({ key, verb }: QuestionParams): ParleyError {
  const written = verb === "elicit" ? "key, { message, requestedSchema }" : "key, message, …";
  return new ParleyError(
    "bad_option",
    `ctx.${verb}("${key}") has no message to show. Write ctx.${verb}(${written}).`,
  );
}

/** Cached, because one form is asked in every run of every call, usually with the same message. */
function formDigest(key: string, message: string, form: Form): string {
  const { requestedSchema } = form;
  const known = formDigests.get(requestedSchema);
  if (known?.message === message) return known.digest;
  const digest = digestOf(key, ["form", message, requestedSchema]);
  formDigests.set(requestedSchema, { message, digest });
  return digest;
}

const formDigests = new WeakMap<object, { readonly message: string; readonly digest: string }>();

function accepted(question: QuestionParams, read: Read, onRefusal: OnRefusal): Reading {
  if (!read.ok) {
    if (read.thrown !== undefined) question.call.onSchemaError(question.key, read.thrown);
    return { kind: "invalid", reason: read.reason };
  }
  const { value } = read;
  return {
    kind: "value",
    value: onRefusal === "is_outcome" ? { action: "accept", content: value } : value,
  };
}

function refused(
  key: string,
  action: "decline" | "cancel",
  onRefusal: OnRefusal,
  raw: unknown,
): Reading {
  switch (onRefusal) {
    case "throws": {
      const reason = unansweredReason(raw) ?? (action === "decline" ? "declined" : "cancelled");
      return { kind: "refused", error: new UnansweredError(key, reason) };
    }
    case "is_no":
      return { kind: "value", value: false };
    case "is_outcome":
      return { kind: "value", value: { action } };
  }
}

// ---------------------------------------------------------------- pages

/** A page as `ctx.openUrl` describes it. */
export interface PageParams {
  readonly url: PageUrl;
  /** Seals a ticket for a page that brings no answer. */
  readonly ticket: () => string;
  /** Says whether the person is done there. Absent, accepting is enough. */
  readonly isDone?: (() => Promise<boolean>) | undefined;
  /** The value that `app.deliver` brings. Absent, there is none. */
  readonly schema?: Schema | undefined;
}

/** A question that sends the person to a page. */
export function urlQuestion(
  question: QuestionParams,
  message: string,
  page: PageParams,
): QuestionSpec {
  const { url, ticket, isDone, schema } = page;
  // A ticket is sealed anew each time, so only the rest of the URL takes part in the digest.
  const fixed = pageAt(question.key, typeof url === "function" ? url("ticket") : url);
  const read = (raw: unknown): Reading | Promise<Reading> => {
    if (isPending(raw)) return notFinished;
    const answer = elicitAnswer(raw);
    if (answer === undefined) return wrongKind("the answer to a URL question");
    if (answer.action !== "accept") return refused(question.key, answer.action, "throws", raw);
    return schema === undefined
      ? { kind: "value", value: undefined }
      : checked(schema, answer.content);
  };
  return {
    ...common(question, "url", [message, fixed], () => inWords(message)),
    ...(schema === undefined ? {} : { unsolicited: undefined }),
    via: "url",
    read,
    admit: async (raw) => {
      const reading = await read(raw);
      if (reading.kind !== "value" || isDone === undefined || (await isDone())) return reading;
      return notFinished;
    },
    shown: {
      request: (reason, sealed) => {
        const at =
          typeof url === "function" ? pageAt(question.key, url(sealed ?? ticket())) : fixed;
        return urlRequest(message, reason, at);
      },
      page: schema && (() => pageOfSchema(question.key, message, schema)),
      audited: { message, via: "url" },
    } satisfies ShownQuestion,
  };
}

/** Only addresses that a browser can open. Throws ParleyError "bad_option" for anything else. */
export function pageAt(key: string, url: string | URL): string {
  const text = String(url);
  if (/^https?:/i.test(text) && URL.canParse(text)) return text;
  throw new ParleyError("bad_option", `Question "${key}" needs an http or https URL for its page.`);
}

// ---------------------------------------------------------------- someone else

/** A question that the client is not shown, because someone else answers it. */
export interface ExternalQuestion {
  readonly external: true;
  readonly page: () => PageQuestion;
  /** Of an approval: how many people must agree. */
  readonly needs?: number | undefined;
  readonly audited?: AuditedQuestion | undefined;
}

/** Whether someone else answers the question. */
export function isExternal(shownAs: unknown): shownAs is ExternalQuestion {
  return typeof shownAs === "object" && shownAs !== null && "external" in shownAs;
}

/** Depends on the key alone: a delivery knows only the ticket, and a value that does not fit the schema is ignored. */
export const externalDigest = (key: string): string => shortDigest(["external", key]);

/** A question that someone other than the caller answers, through `app.deliver`. */
export function externalQuestion(
  question: QuestionParams,
  schema: Schema,
  about: About | undefined,
): QuestionSpec {
  const check = (raw: unknown) => checked(schema, raw);
  return {
    digest: externalDigest(question.key),
    timeoutMs: timeLimit(question),
    verb: question.verb,
    impossible: impossible(question, "task"),
    read: check,
    admit: async (raw) => {
      const read = await check(raw);
      if (read.kind === "invalid")
        question.call.onSchemaError(question.key, new Error(read.reason));
      return read;
    },
    shown: {
      external: true,
      page: () => pageOfSchema(question.key, inWordsOf(question.key), schema, about),
      audited: { message: inWordsOf(question.key), about: () => about, isValue: true },
    } satisfies ExternalQuestion,
  };
}

/** A key as a heading: "manager-approval" is "Manager approval". */
function inWordsOf(key: string): string {
  const words = key.replaceAll(/[_\-\s]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function checked(schema: Schema, value: unknown): Reading | Promise<Reading> {
  const result = schema["~standard"].validate(value);
  return result instanceof Promise ? result.then(delivered) : delivered(result);
}

type StandardResult = Awaited<ReturnType<Schema["~standard"]["validate"]>>;

function delivered(result: StandardResult): Reading {
  if (result.issues === undefined) return { kind: "value", value: result.value };
  return { kind: "invalid", reason: reasonOf(result.issues) };
}

// ---------------------------------------------------------------- common parts

type Common = Pick<QuestionSpec, "digest" | "timeoutMs" | "unsolicited" | "impossible" | "verb">;

/** What questions have in common. The digest covers everything the client is shown, except the reason for asking again (R7). */
export function common(
  question: QuestionParams,
  needs: Ability,
  wording: readonly unknown[],
  words?: () => string,
): Common {
  return {
    digest: digestOf(question.key, [needs, ...wording]),
    timeoutMs: timeLimit(question),
    unsolicited: question.unsolicited,
    verb: question.verb,
    impossible: impossible(question, needs, words),
  };
}

/** The error for a question that this client cannot be asked. */
export function impossible(
  { call, key }: QuestionParams,
  needs: Ability,
  words?: () => string,
): Unsupported | undefined {
  return call.can(needs) ? undefined : new Unsupported(call.name, key, needs, words?.());
}

/** Throws ParleyError "bad_option" for a wording that is not plain data. */
export function digestOf(key: string, wording: readonly unknown[]): string {
  try {
    return shortDigest(wording);
  } catch (cause) {
    throw new ParleyError(
      "bad_option",
      `Question "${key}" has a message or parameters that are not plain data. Pass text, numbers, booleans, lists and objects.`,
      { cause },
    );
  }
}

/** `Infinity` means no limit. */
export function timeLimit({
  key,
  timeoutMs,
}: Pick<QuestionParams, "key" | "timeoutMs">): number | undefined {
  if (timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY) return undefined;
  if (timeoutMs > 0 && timeoutMs <= tenYearsMs) return Math.ceil(timeoutMs);
  throw new ParleyError(
    "bad_option",
    `Question "${key}" has timeoutMs ${timeoutMs}. Pass a number of milliseconds from 1 to ten years, or Infinity.`,
  );
}

/** How a question is shown. */
export const shown = (request: ShownQuestion["request"], pausingWay?: Way): ShownQuestion => ({
  request,
  pausingWay,
});

/** The reading of something that is not an answer of this kind. */
export function wrongKind(expected: string): Reading {
  return { kind: "invalid", reason: `expected ${expected}` };
}

function again(message: string, reason: string | undefined): string {
  return reason === undefined ? message : `${message}\n\nThe last answer did not fit: ${reason}`;
}
