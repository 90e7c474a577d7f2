// A message of the documents in the form that became final: what §F of the requirements says of each member, and no
// more. Tokens, task ids and times are the server's to choose, so those of the running call stand in their place.

import { expect } from "vitest";
import { follows } from "../wire/task-calls.ts";
import { envelope, exchange } from "../wire/post.ts";
import type { Answer, Message as Request, To } from "../wire/post.ts";
import { golden } from "./golden.ts";
import type { Message } from "./printed.ts";

/** What the running call has been given. */
export interface Live {
  readonly requestState?: unknown;
  readonly taskId?: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** A member that is an object, as the document has it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests look at what it is
const object = (member: unknown) => (member ?? {}) as Members;

/** Sends a printed request in its final form. */
export function send(to: To, name: string, live: Live = {}): Promise<Answer> {
  return exchange(to, finalRequest(golden(name), live));
}

// ---------------------------------------------------------------- requests

const methods: Readonly<Record<string, string>> = {
  // The status and what it is about are one answer (F9, F15).
  "tasks/result": "tasks/get",
  // F10.
  "tasks/input_response": "tasks/update",
};

export function finalRequest(
  { id = 1, method = "tools/call", params = {} }: Message,
  live: Live,
): Request {
  const { requestState, inputResponses, _meta, task: _hint, taskId, ...rest } = params;
  const isOfTask = method.startsWith("tasks/");
  const own = {
    ...rest,
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState: live.requestState }),
    // F10: it was in `_meta`, under a key of its own.
    ...(isOfTask ? { taskId: live.taskId ?? taskId } : {}),
  };
  const meta = isOfTask ? {} : object(_meta);
  // F25: no hint. Whether it becomes a task is the server's to say, and the client declares that it can follow one.
  return envelope(methods[method] ?? method, own, {
    id,
    capabilities: follows,
    meta,
  });
}

// ---------------------------------------------------------------- results

/** What is to be expected in place of a printed result. */
export function finalResult(name: string, live: Live = {}): Members {
  const { result = {} } = golden(name);
  const { inputRequests, requestState: _state, task, status, isError, _meta, ...rest } = result;
  if (task !== undefined) return createdTask(object(task));
  if (inputRequests !== undefined) {
    return {
      resultType: "input_required",
      inputRequests: finalRequests(object(inputRequests)),
      requestState: expect.stringMatching(/^v1\./),
    };
  }
  if (status !== undefined) return taskWith({ status }, live);
  return {
    resultType: "complete",
    ...rest,
    // Absent is false.
    ...(isError === true ? { isError } : {}),
  };
}

/** Elicitation says its mode now. */
export function finalRequests(requests: Members): Members {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => {
      const { method, params } = object(request);
      const mode = method === "elicitation/create" ? { mode: "form" } : {};
      return [key, { method, params: { ...mode, ...object(params) } }];
    }),
  );
}

/** Flat, with the unit in its names (F25). Times and how often to poll are the server's. */
function createdTask({ status, ttl }: Members): Members {
  return {
    resultType: "task",
    taskId: expect.any(String),
    status: lowerCase(status),
    createdAt: expect.any(String),
    lastUpdatedAt: expect.any(String),
    ttlMs: ttl,
    pollIntervalMs: expect.any(Number),
  };
}

/** What `tasks/get` answers: a task, in a result that is complete. */
export function taskWith(members: Members, { taskId }: Live): Members {
  const { status, ...rest } = members;
  return { resultType: "complete", taskId, status: lowerCase(status), ...rest };
}

/** F19: two of them are printed as in prose, and one lacks its end. */
function lowerCase(status: unknown): string {
  const text = String(status).toLowerCase();
  return text === "input_require" ? "input_required" : text;
}
