// A task as its caller sees it: opened, and without what only the engine needs.

import type { Json } from "../util/json.ts";
import { internalErrorCode } from "./program.ts";
import type { TaskError } from "./program.ts";
import type { Arrival, Status, TaskRecord } from "./task.ts";
import { checkOwner, checkWait, MovedRecordError } from "./ownership.ts";
import { openJson, places } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";

/** A task at one moment. */
export interface TaskSnapshot {
  readonly id: string;
  readonly callId: string;
  readonly tool: string;
  readonly principal: string | undefined;
  readonly status: Status;
  readonly statusMessage: string | undefined;
  /** The questions that the client is asked, by wire key. */
  readonly questions: ReadonlyMap<string, Json>;
  /** The handler's own key of each of these questions, and its digest, by wire key. */
  readonly questionKeys: ReadonlyMap<string, Pick<Arrival, "key" | "digest">>;
  /** The wire keys of those whose answers a page brings. */
  readonly paged: ReadonlySet<string>;
  /** The result of a completed task. */
  readonly result: Json | undefined;
  /** The error of a failed task. */
  readonly error: TaskError | undefined;
  /** Whether the contents of an ended task are deleted, because its time is up. */
  readonly isRemoved: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
  readonly revision: number;
}

/** Opens a record. Throws if a key is missing, and MovedRecordError if the row is not what was sealed. */
export function snapshotOf(sealer: Sealer, task: TaskRecord): TaskSnapshot {
  const { id, callId, tool, principal, status, statusMessage, result, waits } = task;
  const { createdAt, updatedAt, expiresAt, revision } = task;
  checkOwner(sealer, task);
  const asked = waits.flatMap(({ kind, wire, key, digest = "", request }) => {
    if (kind !== "question" || request === undefined) return [];
    checkWait({ wire, key });
    const shown = openJson(sealer, request, places.question(callId, wire));
    return [{ wire, shown, of: { key, digest } }];
  });
  const ended = result === undefined ? undefined : openJson(sealer, result, places.result(callId));
  checkEnd(task, ended);
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
    questions: new Map(asked.map(({ wire, shown }) => [wire, shown])),
    questionKeys: new Map(asked.map(({ wire, of }) => [wire, of])),
    paged: new Set(waits.flatMap(({ wire, page }) => (page === undefined ? [] : [wire]))),
    result: status === "completed" ? ended : undefined,
    error: status === "failed" ? errorOf(ended) : undefined,
    isRemoved: task.rest === "removed",
  };
}

/** Whether the task ended as its row says. The end itself is sealed, and the status is not. */
function checkEnd({ status, rest }: TaskRecord, ended: Json | undefined): void {
  if (rest !== undefined) return;
  const isError = isTaskError(ended) && !("content" in ended);
  const isAsSaid =
    status === "completed"
      ? ended !== undefined && !isError
      : status === "failed"
        ? isTaskError(ended)
        : ended === undefined;
  if (!isAsSaid)
    throw new MovedRecordError(`Its status is ${status}, and its result says otherwise`);
}

/** An expired task has lost its contents, so its error is made here. */
function errorOf(ended: Json | undefined): TaskError {
  if (isTaskError(ended)) return ended;
  return {
    code: internalErrorCode,
    message: "The task expired before it was done.",
    data: { reason: "task_expired" },
  };
}

function isTaskError(value: unknown): value is TaskError {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}
