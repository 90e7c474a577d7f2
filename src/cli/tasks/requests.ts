// A task of a server, by its id: the requests of the tasks extension, of which the client makes the same.

import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import type { Connection, OpenQuestion } from "../../client/index.ts";
import { isObject, own } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";
import { readQuestion } from "../../client/read-question.ts";
import { referenceTo } from "../../client/reference.ts";
import type { Place } from "../server/place.ts";

const anything: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "parley", validate: (value) => ({ value }) },
};

export async function taskRequest(
  { sdk, era }: Connection,
  method: "tasks/get" | "tasks/update" | "tasks/cancel",
  params: Members,
): Promise<Members> {
  if (era === "2025-11-25" && method === "tasks/update") {
    throw new CallError(
      "refused",
      "A 2025-11-25 server asks in its session: use parley tasks watch.",
    );
  }
  try {
    const result: unknown = await sdk.request({ method, params }, anything);
    return isObject(result) ? result : {};
  } catch (error) {
    if (own(error, "code") !== -32_602) throw error;
    const message = "The server does not know the task, or no longer.";
    throw new CallError("task_gone", message, { cause: error });
  }
}

export function questionsOf(task: Members): readonly OpenQuestion[] {
  const requests = task["inputRequests"];
  if (!isObject(requests)) return [];
  return Object.entries(requests).map(([key, request]) => readQuestion(key, request));
}

/** A reference to a task that somebody else has started. */
export function referenceToTask(connection: Connection, place: Place, taskId: string): string {
  const url = place.kind === "url" ? new URL(place.url) : undefined;
  return referenceTo({
    id: crypto.randomUUID(),
    target: url === undefined ? connection.server.name : `${url.origin}${url.pathname}`,
    since: Date.now(),
    method: "tools/call",
    name: `task ${taskId}`,
    rounds: 0,
    stateRounds: 0,
    questions: new Map(),
    answers: new Map(),
    taskId,
    isLegacy: connection.era === "2025-11-25",
  });
}
