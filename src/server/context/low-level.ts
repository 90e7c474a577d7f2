// The low-level form: a handler that drives the rounds itself. It returns `inputRequired(...)` with a state of
// its own and reads `ctx.answers` and `ctx.state`; the library still seals, binds and accumulates.

import type { CreateMessageRequestParams, InputResponses } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import type { FormJson } from "../../protocol/form.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import { NotJson, toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { formOf } from "../forms/form.ts";
import { pageAt } from "./questions.ts";
import type { Askable, Schema } from "../forms/schema.ts";

/** What a handler returns to be called again. Made by `inputRequired()`. */
export interface InputRequiredResult {
  readonly resultType: "input_required";
  readonly inputRequests?: { readonly [key: string]: InputRequest } | undefined;
  readonly "~state": unknown;
}

export interface InputRequiredSpec {
  readonly inputRequests?: { readonly [key: string]: InputRequest } | undefined;
  /** Any JSON value. It comes back sealed, through `ctx.state(schema)`. */
  readonly state?: unknown;
}

export const inputRequired: {
  (spec: InputRequiredSpec): InputRequiredResult;
  readonly elicit: <const S extends Schema | FormJson>(params: {
    readonly message: string;
    readonly requestedSchema: S & Askable<S>;
  }) => InputRequest;
  readonly elicitUrl: (params: { readonly message: string; readonly url: string }) => InputRequest;
  readonly createMessage: (params: CreateMessageRequestParams) => InputRequest;
  readonly listRoots: () => InputRequest;
} = Object.assign(
  ({ inputRequests, state }: InputRequiredSpec): InputRequiredResult => ({
    resultType: "input_required",
    inputRequests,
    "~state": state,
  }),
  {
    elicit: ({
      message,
      requestedSchema,
    }: {
      readonly message: string;
      readonly requestedSchema: Schema | FormJson;
    }): InputRequest => ({
      method: "elicitation/create",
      params: {
        mode: "form",
        message,
        requestedSchema: formOf("requestedSchema", requestedSchema).requestedSchema,
      },
    }),
    elicitUrl: ({ message, url }: { message: string; url: string }): InputRequest => ({
      method: "elicitation/create",
      params: { mode: "url", message, url: pageAt("elicitUrl", url) },
    }),
    createMessage: (params: CreateMessageRequestParams): InputRequest => ({
      method: "sampling/createMessage",
      params,
    }),
    listRoots: (): InputRequest => ({ method: "roots/list" }),
  },
);

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
  /** The keys that are out: only their answers are taken. */
  readonly asked: readonly string[];
}

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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the client sent them; to be looked at
  return { ...answers, ...Object.fromEntries(taken) } as unknown as InputResponses;
}

/** The returned state as it will come back. Throws ParleyError "not_json". */
export function keptState(
  handler: string,
  { "~state": state }: InputRequiredResult,
): Json | undefined {
  try {
    return toJson(state, "state");
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new ParleyError(
      "not_json",
      `"${handler}" returned ${error.what} at ${error.path}, which JSON does not bring back. Return plain data, for example ${error.advice}.`,
      { cause: error },
    );
  }
}
