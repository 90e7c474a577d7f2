// The low-level form: a handler that drives the rounds itself. It returns `inputRequired(…)` with its own state and reads
// `ctx.answers` and `ctx.state`. The library still seals the state, binds it to the call and collects the answers.

import type { CreateMessageRequestParams, InputResponses } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { FormJson } from "../../protocol/form.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import { badKey } from "../../replay/author-errors.ts";
import { NotJson, toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { formOf } from "../forms/form.ts";
import { reasonOf } from "../forms/issues.ts";
import type { ElicitParams } from "./question-options.ts";
import { pageAt } from "./questions.ts";
import type { Askable, OutputOf, Schema } from "../forms/schema.ts";

/** What a handler returns to be called again with answers. Make it with `inputRequired()`. */
export interface InputRequiredResult {
  /** Tells it from a finished result, as on the wire. */
  readonly resultType: "input_required";
  /** What the client is asked, by key. */
  readonly inputRequests?: { readonly [key: string]: InputRequest } | undefined;
  /** The handler's own state. Read it with `ctx.state(schema)`. */
  readonly "~state": unknown;
}

/** What `inputRequired()` takes. */
export interface InputRequiredSpec {
  /** What the client is asked, by key. Make each with `inputRequired.elicit` and its siblings. Default: nothing. */
  readonly inputRequests?: { readonly [key: string]: InputRequest } | undefined;
  /** Any JSON value. It travels sealed with the client, and `ctx.state(schema)` reads it in the next round. */
  readonly state?: unknown;
}

/** What `inputRequired.elicitUrl` asks. */
export interface ElicitUrlParams {
  /** The question to show. */
  readonly message: string;
  /** The page, at an http or https URL. */
  readonly url: string;
}

/** The type of `inputRequired`: a function, with functions that make each kind of request. */
export interface InputRequiredMaker {
  (spec: InputRequiredSpec): InputRequiredResult;
  /** Asks the person with a form. The answer comes as the client sent it; check it with the SDK's `acceptedContent`. */
  readonly elicit: <const S extends Schema | FormJson>(
    params: ElicitParams<S & Askable<S>>,
  ) => InputRequest;
  /** Sends the person to a page, at an http or https URL. */
  readonly elicitUrl: (params: ElicitUrlParams) => InputRequest;
  /** Asks the client's language model. */
  readonly createMessage: (params: CreateMessageRequestParams) => InputRequest;
  /** Asks the client for its root folders. */
  readonly listRoots: () => InputRequest;
}

/**
 * Ends the round and asks the client, for handlers that drive the rounds themselves. The handler is called again with
 * `ctx.answers` and `ctx.state`. Most handlers are shorter with `ctx.ask` and its siblings; one handler cannot mix both.
 *
 * @example
 * ```ts
 * const name = acceptedContent(ctx.answers, "name", z.object({ name: z.string() }));
 * if (name === undefined) {
 *   const params = { message: "Your name?", requestedSchema: z.object({ name: z.string() }) };
 *   return inputRequired({ inputRequests: { name: inputRequired.elicit(params) } });
 * }
 * ```
 */
export const inputRequired: InputRequiredMaker = Object.assign(
  ({ inputRequests, state }: InputRequiredSpec): InputRequiredResult => ({
    resultType: "input_required",
    inputRequests,
    "~state": state,
  }),
  {
    elicit: ({ message, requestedSchema }: ElicitParams<Schema | FormJson>): InputRequest => ({
      method: "elicitation/create",
      params: {
        mode: "form",
        message,
        requestedSchema: formOf("requestedSchema", requestedSchema).requestedSchema,
      },
    }),
    elicitUrl: ({ message, url }: ElicitUrlParams): InputRequest => ({
      method: "elicitation/create",
      params: { mode: "url", message, url: pageAt("elicitUrl", url) },
    }),
    createMessage: (params: CreateMessageRequestParams): InputRequest => ({
      method: "sampling/createMessage",
      params,
    }),
    listRoots: (): InputRequest => ({ method: "roots/list", params: {} }),
  },
);

/** Whether a handler returned `inputRequired(…)`. */
export function isInputRequired(returned: unknown): returned is InputRequiredResult {
  return (
    typeof returned === "object" &&
    returned !== null &&
    "resultType" in returned &&
    returned.resultType === "input_required"
  );
}

/** What a call in this form remembers between rounds. */
export interface LowLevelState {
  readonly answers: { readonly [key: string]: Json };
  readonly state: Json | undefined;
  /** The keys that were asked last. Answers under other keys are ignored. */
  readonly asked: readonly string[];
}

/** The state of a call that has not used this form. */
export const noLowLevelState: LowLevelState = { answers: {}, state: undefined, asked: [] };

/** The answers of this round added to those before it. */
export function accumulated(
  { answers, asked }: LowLevelState,
  fresh: ReadonlyMap<string, object>,
): InputResponses {
  const taken = asked.flatMap((key) => {
    const answer = fresh.get(key);
    return answer === undefined ? [] : [[key, answer] as const];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the client sent them; the handler checks them
  return { ...answers, ...Object.fromEntries(taken) } as unknown as InputResponses;
}

/** The returned state as the next round will read it. Throws ParleyError "not_json". */
export function keptState(
  handler: string,
  { "~state": state }: InputRequiredResult,
): Json | undefined {
  return plain(handler, state, "state");
}

/** The returned requests as they are sent. Throws ParleyError "not_json". */
export function sentRequests(
  handler: string,
  { inputRequests = {} }: InputRequiredResult,
): [key: string, request: InputRequest][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a copy of what the type says
  const copy = plain(handler, inputRequests, "inputRequests") as unknown as typeof inputRequests;
  if (Object.hasOwn(copy, "__proto__")) throw badKey(handler, "__proto__");
  return Object.entries(copy);
}

function plain(handler: string, value: unknown, path: string): Json | undefined {
  try {
    return toJson(value, path);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new ParleyError(
      "not_json",
      `"${handler}" returned ${error.what} at ${error.path}, which JSON cannot restore. Return plain data, for example ${error.advice}.`,
      { cause: error },
    );
  }
}

/** The state that the handler returned last, for `ctx.state`. It was sealed by us, so it is that state. A deployment may have changed the schema since. */
export function stateOf<S extends Schema>(
  state: Json | undefined,
  schema: S,
): OutputOf<S> | undefined {
  if (state === undefined) return undefined;
  const result = schema["~standard"].validate(state);
  if (result instanceof Promise)
    throw new TypeError("ctx.state() takes a schema that validates synchronously.");
  if (result.issues !== undefined) {
    throw new TypeError(
      `ctx.state(): the state does not fit the schema: ${reasonOf(result.issues)}`,
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is the schema's output
  return result.value as OutputOf<S>;
}
