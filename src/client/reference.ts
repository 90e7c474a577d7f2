// A reference: the state of a call as one string. Another process can continue the call from it. It contains the
// arguments, the answers and the server's state, so it is a secret.

import { keptStreamIn } from "./call-stream.ts";
import type { KeptStream } from "./call-stream.ts";
import { CallError } from "./errors.ts";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";
import { draftVersion, legacyVersion, modernVersion } from "../protocol/versions.ts";
import type { Era } from "../protocol/versions.ts";

const methods = ["tools/call", "prompts/get", "resources/read"] as const;
/** The requests that can ask questions. */
export type Method = (typeof methods)[number];

/** All that is needed to continue a call. */
export interface CallState {
  /** Names the call in the journal. */
  readonly id: string;
  /** The server that the call belongs to. No other server may see its state. */
  readonly target: string;
  /** When the call started, in milliseconds since 1970. */
  readonly since: number;
  readonly method: Method;
  /** The tool, the prompt or the URI. */
  readonly name: string;
  readonly args?: Members | undefined;
  /** The key of the first request, so that the server can recognise it. Older references do not have one. */
  readonly idempotencyKey?: string | undefined;
  /** How many rounds have asked questions. */
  readonly rounds: number;
  /** How many rounds have returned state without asking anything. */
  readonly stateRounds: number;
  /** Sent back exactly as the server sent it, or not at all if the server sent none. */
  readonly requestState?: string | undefined;
  /** The questions of the current round or task by key, as the server sent them. */
  readonly questions: ReadonlyMap<string, unknown>;
  /** The answers that the server may not have received yet. */
  readonly answers: ReadonlyMap<string, unknown>;
  readonly taskId?: string | undefined;
  /** When the task expires on the server, in milliseconds since 1970. Undefined if the server did not say. */
  readonly expiresAt?: number | undefined;
  /** True if the call began in a 2025-11-25 session. Only its task can be continued after the session. */
  readonly isLegacy: boolean;
  /** The protocol version that the call began in. Older references do not say. */
  readonly era?: Era | undefined;
  /** When a question, an answer or a task was last added, in milliseconds since 1970. Older references do not say. */
  readonly changedAt?: number | undefined;
  /** The span of the call in the process that started it, if it was traced. */
  readonly traceparent?: string | undefined;
  /** What the call has streamed so far, and how far its task was read. */
  readonly streamed?: KeptStream | undefined;
  /** The result of a call that is done, until the application takes it. */
  readonly result?: Members | undefined;
}

const eras: readonly Era[] = [modernVersion, draftVersion, legacyVersion];

/** The protocol version to continue a call in. */
export const eraOf = ({ era, isLegacy }: CallState): Era =>
  era ?? (isLegacy ? legacyVersion : modernVersion);

const version = "parley1.";

/** Writes the state as a reference. */
export function referenceTo(state: CallState): string {
  const json = JSON.stringify({
    ...state,
    questions: Object.fromEntries(state.questions),
    answers: Object.fromEntries(state.answers),
  });
  return version + Buffer.from(json).toString("base64url");
}

/** Reads a reference. Throws `bad_reference` if it is not one. */
export function stateOf(ref: string): CallState {
  const state = ref.startsWith(version) ? read(ref.slice(version.length)) : undefined;
  if (state !== undefined) return state;
  const message =
    "That is not a reference to a call. Pass the whole `ref` of an event, of an error or of unfinished().";
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
  const { questions, answers, isLegacy, expiresAt, changedAt, traceparent, idempotencyKey } = raw;
  const method = methods.find((one) => one === raw["method"]);
  if (typeof id !== "string" || !/^[\w-]{1,64}$/.test(id)) return undefined;
  if (typeof target !== "string" || typeof name !== "string" || method === undefined)
    return undefined;
  if (!isCount(since) || !isCount(rounds) || !isCount(stateRounds)) return undefined;
  if (!isObject(questions) || !isObject(answers)) return undefined;
  if (!isTextOrNone(traceparent) || !isTextOrNone(idempotencyKey)) return undefined;
  if (!isTextOrNone(requestState) || !isTextOrNone(taskId)) return undefined;
  if (!isObjectOrNone(args) || !isObjectOrNone(result)) return undefined;
  if (!isCountOrNone(expiresAt) || !isCountOrNone(changedAt)) return undefined;
  return {
    id,
    target,
    since,
    method,
    name,
    args,
    idempotencyKey,
    rounds,
    stateRounds,
    requestState,
    questions: new Map(Object.entries(questions)),
    answers: new Map(Object.entries(answers)),
    taskId,
    expiresAt,
    isLegacy: isLegacy === true,
    era: eras.find((one) => one === raw["era"]),
    changedAt,
    traceparent,
    streamed: keptStreamIn(raw["streamed"]),
    result,
  };
}

const isCount = (value: unknown): value is number => typeof value === "number" && value >= 0;
const isCountOrNone = (value: unknown): value is number | undefined =>
  value === undefined || isCount(value);
const isTextOrNone = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === "string";
const isObjectOrNone = (value: unknown): value is Members | undefined =>
  value === undefined || isObject(value);
