// The questions of `ctx`: how each is put to the client, and how its answer is read.

import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
  Root,
} from "@modelcontextprotocol/server";
import { ParleyError, UnansweredError } from "../../errors.ts";
import { elicitAnswer, rootsAnswer, sampleAnswer } from "../../protocol/answers.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import type { QuestionSpec, Reading } from "../../replay/operations.ts";
import { shortDigest } from "../../token/canonical.ts";
import { capabilityNeededBy } from "../../protocol/capabilities.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import type { Form, Read } from "../forms/form.ts";
import { reasonOf } from "../forms/issues.ts";
import type { Schema } from "../forms/schema.ts";
import { tenYearsMs } from "../../util/timers.ts";

export interface QuestionOptions {
  /** Throws `UnansweredError` ("timed_out") when no answer came by then. */
  readonly timeoutMs?: number | undefined;
  /** Also take an answer that was sent before the question was put (no sealed state). Off: an answer proves nothing then. */
  readonly unsolicited?: boolean | undefined;
}

/** What a carrier shows. `request` is called when the question goes out, with the reason if it was put before. */
export interface Shown {
  readonly kind: "form" | "url" | "sampling" | "roots";
  readonly needs: Ability;
  readonly request: (reason: string | undefined) => InputRequest;
}

export function isShown(value: unknown): value is Shown {
  return typeof value === "object" && value !== null && "request" in value;
}

export interface Put extends QuestionOptions {
  readonly key: string;
  readonly can: (ability: Ability) => boolean;
  /** A schema that throws instead of refusing: the author should hear of it, the client not. */
  readonly onSchemaError: (key: string, error: unknown) => void;
  /** The member of `ctx`, for messages. */
  readonly verb: string;
}

// ---------------------------------------------------------------- forms

/** What becomes of decline and cancel: an error, a no, or an outcome to look at. */
export type Refusal = "throws" | "is no" | "is an outcome";

export function formQuestion(
  put: Put,
  message: string,
  form: Form,
  refusal: Refusal,
): QuestionSpec {
  if (typeof message !== "string") throw noMessage(put);
  return {
    // As in `common`, member by member: this is every round, and a spread is dear.
    digest: formDigest(put.key, message, form),
    timeoutMs: timeLimit(put),
    unsolicited: put.unsolicited,
    verb: put.verb,
    impossible: impossible(put, "form"),
    read: (raw) => {
      const answer = elicitAnswer(raw);
      if (answer === undefined) return wrongKind("the answer to a form");
      if (answer.action !== "accept") return refused(put.key, answer.action, refusal);
      const read = form.read(answer.content);
      return read instanceof Promise
        ? read.then((later) => accepted(put, later, refusal))
        : accepted(put, read, refusal);
    },
    shown: shown("form", "form", (reason) => ({
      method: "elicitation/create",
      params: {
        mode: "form",
        message: again(message, reason),
        requestedSchema: form.requestedSchema,
      },
    })),
  };
}

/** For JavaScript, where the key is easily forgotten. */
function noMessage({ key, verb }: Put): ParleyError {
  const written = verb === "elicit" ? "key, { message, requestedSchema }" : "key, message, …";
  return new ParleyError(
    "bad_option",
    `ctx.${verb}("${key}") has no message for the person: write ctx.${verb}(${written}).`,
  );
}

/** A form that is made once is put in every run of every call, mostly with the same words. */
function formDigest(key: string, message: string, form: Form): string {
  const { requestedSchema } = form;
  const known = formDigests.get(requestedSchema);
  if (known?.message === message) return known.digest;
  const digest = digestOf(key, ["form", message, requestedSchema]);
  formDigests.set(requestedSchema, { message, digest });
  return digest;
}

const formDigests = new WeakMap<object, { readonly message: string; readonly digest: string }>();

function accepted(put: Put, read: Read, refusal: Refusal): Reading {
  if (!read.ok) {
    if (read.thrown !== undefined) put.onSchemaError(put.key, read.thrown);
    return { kind: "invalid", reason: read.reason };
  }
  const { value } = read;
  return {
    kind: "value",
    value: refusal === "is an outcome" ? { action: "accept", content: value } : value,
  };
}

function refused(key: string, action: "decline" | "cancel", refusal: Refusal): Reading {
  switch (refusal) {
    case "throws":
      return {
        kind: "refused",
        error: new UnansweredError(key, action === "decline" ? "declined" : "cancelled"),
      };
    case "is no":
      return { kind: "value", value: false };
    case "is an outcome":
      return { kind: "value", value: { action } };
  }
}

// ---------------------------------------------------------------- pages

export interface UrlOptions {
  readonly url: string | URL | ((ticket: string) => string | URL);
  readonly ticket: () => string;
  /** Accepting means "I will open it". Whether it is done, `isDone` says; absent: it is. */
  readonly isDone?: (() => Promise<boolean>) | undefined;
}

export function urlQuestion(put: Put, message: string, options: UrlOptions): QuestionSpec {
  const { url, ticket, isDone } = options;
  // A ticket is sealed anew each time; the rest of the URL is what must not change.
  const fixed = pageAt(put.key, typeof url === "function" ? url("ticket") : url);
  const read = (raw: unknown): Reading => {
    const answer = elicitAnswer(raw);
    if (answer === undefined) return wrongKind("the answer to a URL question");
    if (answer.action !== "accept") return refused(put.key, answer.action, "throws");
    return { kind: "value", value: undefined };
  };
  return {
    ...common(put, "url", [message, fixed]),
    read,
    admit: async (raw) => {
      const reading = read(raw);
      if (reading.kind !== "value" || isDone === undefined || (await isDone())) return reading;
      return { kind: "invalid", reason: "Not finished yet" };
    },
    shown: shown("url", "url", (reason) => ({
      method: "elicitation/create",
      params: {
        mode: "url",
        message: reason === undefined ? message : `${reason}: ${message}`,
        url: typeof url === "function" ? pageAt(put.key, url(ticket())) : fixed,
      },
    })),
  };
}

/** A page for a browser: nothing else is worth a person's click. */
export function pageAt(key: string, url: string | URL): string {
  const text = String(url);
  if (/^https?:/i.test(text) && URL.canParse(text)) return text;
  throw new ParleyError("bad_option", `Question "${key}" needs an http or https URL for its page.`);
}

// ---------------------------------------------------------------- someone else

/** What is shown of it: nothing, to nobody. */
export const external = "external";

/** The same whatever the schema: who delivers knows only the ticket, and a value that does not fit is left aside. */
export const externalDigest = (key: string): string => shortDigest([external, key]);

export function externalQuestion(put: Put, schema: Schema): QuestionSpec {
  const check = (raw: unknown): Reading | Promise<Reading> => {
    const result = schema["~standard"].validate(raw);
    return result instanceof Promise ? result.then(delivered) : delivered(result);
  };
  return {
    digest: externalDigest(put.key),
    timeoutMs: timeLimit(put),
    verb: put.verb,
    impossible: put.can("task") ? undefined : new Unsupported(put.key, "task"),
    read: check,
    admit: async (raw) => {
      const read = await check(raw);
      if (read.kind === "invalid") put.onSchemaError(put.key, new Error(read.reason));
      return read;
    },
    shown: external,
  };
}

type StandardResult = Awaited<ReturnType<Schema["~standard"]["validate"]>>;

function delivered(result: StandardResult): Reading {
  if (result.issues === undefined) return { kind: "value", value: result.value };
  return { kind: "invalid", reason: reasonOf(result.issues) };
}

// ---------------------------------------------------------------- the client's model and roots

export interface SampleParams extends Omit<CreateMessageRequestParams, "messages" | "maxTokens"> {
  readonly prompt?: string | undefined;
  readonly messages?: CreateMessageRequestParams["messages"] | undefined;
  readonly maxTokens?: number | undefined;
}

export interface Sample {
  readonly text: string;
  readonly model: string;
  readonly stopReason?: string | undefined;
  readonly message: CreateMessageResult | CreateMessageResultWithTools;
}

export function sampleQuestion(put: Put, prompt: string | SampleParams): QuestionSpec {
  const { includeContext, ...asked } = samplingParams(
    typeof prompt === "string" ? { prompt } : prompt,
  );
  // A wish that goes only to clients that know it.
  const params =
    includeContext === undefined || !put.can("sampling.context")
      ? asked
      : { ...asked, includeContext };
  checkHistory(put.key, params.messages);
  const needs = capabilityNeededBy({ method: "sampling/createMessage", params });
  return {
    ...common(put, needs, [params]),
    read: (raw) => {
      const answer = sampleAnswer(raw);
      if (answer === undefined) return wrongKind("a completion");
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sampleAnswer has looked at it
      const message = raw as unknown as Sample["message"];
      return { kind: "value", value: { ...answer, message } satisfies Sample };
    },
    shown: shown("sampling", needs, () => ({ method: "sampling/createMessage", params })),
  };
}

const defaultMaxTokens = 1024;

function samplingParams(params: SampleParams): CreateMessageRequestParams {
  const { prompt, messages = [], maxTokens = defaultMaxTokens, ...rest } = params;
  const asked: CreateMessageRequestParams["messages"] =
    prompt === undefined ? [] : [{ role: "user", content: { type: "text", text: prompt } }];
  return { ...rest, messages: [...messages, ...asked], maxTokens };
}

/** What every model's interface insists on: a call of tools is followed by their results and nothing else. */
function checkHistory(key: string, messages: CreateMessageRequestParams["messages"]): void {
  for (const [index, { content }] of messages.entries()) {
    const calls = [content]
      .flat()
      .flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    if (calls.length === 0) continue;
    const next = messages[index + 1];
    const results = [next?.content ?? []]
      .flat()
      .map((block) => (block.type === "tool_result" ? block.toolUseId : undefined));
    const isAnswered =
      next?.role === "user" &&
      results.length === calls.length &&
      calls.every((id) => results.includes(id));
    if (isAnswered) continue;
    throw new ParleyError(
      "not_askable",
      `Question "${key}" has a message that calls tools and is not followed by a user message made of their results alone. Add one tool_result for each tool_use.`,
    );
  }
}

export function rootsQuestion(put: Put): QuestionSpec {
  return {
    ...common(put, "roots", []),
    read: (raw) => {
      const roots: Root[] | undefined = rootsAnswer(raw);
      return roots === undefined
        ? wrongKind("a list of file:// roots")
        : { kind: "value", value: roots };
    },
    shown: shown("roots", "roots", () => ({ method: "roots/list" })),
  };
}

// ---------------------------------------------------------------- common parts

type Common = Pick<QuestionSpec, "digest" | "timeoutMs" | "unsolicited" | "impossible" | "verb">;

/** The digest covers all the client is shown but the reason for asking again (R7). */
function common(put: Put, needs: Ability, wording: readonly unknown[]): Common {
  return {
    digest: digestOf(put.key, [needs, ...wording]),
    timeoutMs: timeLimit(put),
    unsolicited: put.unsolicited,
    verb: put.verb,
    impossible: impossible(put, needs),
  };
}

function impossible(put: Put, needs: Ability): Unsupported | undefined {
  return put.can(needs) ? undefined : new Unsupported(put.key, needs);
}

function digestOf(key: string, wording: readonly unknown[]): string {
  try {
    return shortDigest(wording);
  } catch (cause) {
    const why = "has a message or parameters that are not text and plain data";
    throw new ParleyError("bad_option", `Question "${key}" ${why}.`, { cause });
  }
}

/** None for Infinity: so people write "no limit". */
function timeLimit({ key, timeoutMs }: Put): number | undefined {
  if (timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY) return undefined;
  if (timeoutMs > 0 && timeoutMs <= tenYearsMs) return Math.ceil(timeoutMs);
  throw new ParleyError(
    "bad_option",
    `Question "${key}" has timeoutMs ${timeoutMs}: a number of milliseconds from 1 to ten years, or Infinity.`,
  );
}

/** Knows what the client lacks, for the error it becomes when nobody catches it. */
export class Unsupported extends UnansweredError {
  readonly needs: Ability;

  constructor(key: string, needs: Ability) {
    super(key, "unsupported");
    this.needs = needs;
  }
}

function shown(kind: Shown["kind"], needs: Ability, request: Shown["request"]): Shown {
  return { kind, needs, request };
}

function wrongKind(expected: string): Reading {
  return { kind: "invalid", reason: `expected ${expected}` };
}

function again(message: string, reason: string | undefined): string {
  return reason === undefined ? message : `${message}\n\nThe last answer did not fit: ${reason}`;
}
