// Where a call stands, as one plain string: all that another process needs to go on with it. It holds the arguments,
// the answers and the server's state, so it is a secret.

import { CallError } from "./errors.ts";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

const methods = ["tools/call", "prompts/get", "resources/read"] as const;
export type Method = (typeof methods)[number];

export interface CallState {
  /** Names the call in the journal. */
  readonly id: string;
  /** Of which server it is: its state is shown to no other. */
  readonly target: string;
  readonly since: number;
  readonly method: Method;
  /** The tool, the prompt or the URI. */
  readonly name: string;
  readonly args?: Members | undefined;
  /** Those with questions, and those without. */
  readonly rounds: number;
  readonly stateRounds: number;
  /** As it came, or absent as it was. Nobody looks into it. */
  readonly requestState?: string | undefined;
  /** What is asked, as it came, by key. */
  readonly questions: ReadonlyMap<string, unknown>;
  /** Given, and not known to have arrived. */
  readonly answers: ReadonlyMap<string, unknown>;
  readonly taskId?: string | undefined;
  /** Of a session of 2025-11-25, which only its tasks outlive. */
  readonly isLegacy: boolean;
  /** It is over, and nobody has taken this yet. */
  readonly result?: Members | undefined;
}

const version = "parley1.";

export function referenceTo(state: CallState): string {
  const json = JSON.stringify({
    ...state,
    questions: Object.fromEntries(state.questions),
    answers: Object.fromEntries(state.answers),
  });
  return version + Buffer.from(json).toString("base64url");
}

export function stateOf(ref: string): CallState {
  const state = ref.startsWith(version) ? read(ref.slice(version.length)) : undefined;
  if (state !== undefined) return state;
  const message =
    "That is not a reference to a call. Pass on the whole `ref` of an event, or of unfinished().";
  throw new CallError("bad_reference", message);
}

function read(text: string): CallState | undefined {
  try {
    return checked(JSON.parse(Buffer.from(text, "base64url").toString()));
  } catch {
    return undefined;
  }
}

function checked(raw: unknown): CallState | undefined {
  if (!isObject(raw)) return undefined;
  const { id, target, since, name, args, rounds, stateRounds, requestState, taskId, result } = raw;
  const { questions, answers, isLegacy } = raw;
  const method = methods.find((one) => one === raw["method"]);
  if (typeof id !== "string" || !/^[\w-]{1,64}$/.test(id)) return undefined;
  if (typeof target !== "string" || typeof name !== "string" || method === undefined)
    return undefined;
  if (!isCount(since) || !isCount(rounds) || !isCount(stateRounds)) return undefined;
  if (!isObject(questions) || !isObject(answers)) return undefined;
  if (!isTextOrNone(requestState) || !isTextOrNone(taskId)) return undefined;
  if (!isObjectOrNone(args) || !isObjectOrNone(result)) return undefined;
  return {
    id,
    target,
    since,
    method,
    name,
    args,
    rounds,
    stateRounds,
    requestState,
    questions: new Map(Object.entries(questions)),
    answers: new Map(Object.entries(answers)),
    taskId,
    isLegacy: isLegacy === true,
    result,
  };
}

const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;
const isTextOrNone = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";
const isObjectOrNone = (value: unknown): value is Members | undefined =>
  value === undefined || isObject(value);
