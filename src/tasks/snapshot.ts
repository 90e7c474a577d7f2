// A task as those see it who may: in the clear, and without what is the engine's own.

import type { Json } from "../util/json.ts";
import type { TaskError } from "./program.ts";
import type { Status, TaskRecord } from "./task.ts";
import { openJson, places } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";

export interface TaskSnapshot {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly principal: string | undefined;
  readonly status: Status;
  readonly statusMessage: string | undefined;
  /** What the client is asked, by wire key. */
  readonly questions: ReadonlyMap<string, Json>;
  /** Of a completed one. */
  readonly result: Json | undefined;
  /** Of a failed one. */
  readonly error: TaskError | undefined;
  /** Its contents are gone: its time is over. */
  readonly isRemoved: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
  readonly revision: number;
}

/** Throws where a key is missing. */
export function snapshotOf(sealer: Sealer, task: TaskRecord): TaskSnapshot {
  const { id, callId, tool, principal, status, statusMessage, result, waits } = task;
  const { createdAt, updatedAt, expiresAt, revision } = task;
  const questions = waits.flatMap(({ kind, wire, request }): [string, Json][] =>
    kind === "question" && request !== undefined
      ? [[wire, openJson(sealer, request, places.question(callId, wire))]]
      : [],
  );
  const ended = result === undefined ? undefined : openJson(sealer, result, places.result(callId));
  return {
    id,
    callId,
    tool,
    status,
    createdAt,
    updatedAt,
    expiresAt,
    revision,
    principal: principal === "" ? undefined : principal,
    statusMessage:
      statusMessage === undefined ? undefined : sealer.open(statusMessage, places.message(callId)),
    questions: new Map(questions),
    result: status === "completed" ? ended : undefined,
    error: status === "failed" ? errorOf(ended) : undefined,
    isRemoved: task.rest === "removed",
  };
}

/** Nothing is left of an expired one but that it was there. */
function errorOf(ended: Json | undefined): TaskError {
  if (isTaskError(ended)) return ended;
  return {
    code: -32603,
    message: "The task was not done when its time was up.",
    data: { reason: "task_expired" },
  };
}

function isTaskError(value: unknown): value is TaskError {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}
