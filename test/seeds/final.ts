// Turns a message of the documents into the final form, according to the differences F1 to F53 and nothing else. The server
// chooses tokens, task ids and times, so those of the running call replace the printed ones.

import { expect } from "vitest";
import { follows } from "../wire/task-calls.ts";
import { envelope, exchange } from "../wire/post.ts";
import type { Answer, Message as Request, To } from "../wire/post.ts";
import { played } from "./plays.ts";
import type { Message } from "./printed.ts";

/** The values of the running call. */
export interface Live {
  readonly requestState?: unknown;
  readonly taskId?: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** A member of the printed message that is an object. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests look at what it is
const object = (member: unknown) => (member ?? {}) as Members;

/** Sends a printed request in its final form. */
export function send(to: To, name: string, live: Live = {}): Promise<Answer> {
  return exchange(to, finalRequest(played(name), live));
}

// ---------------------------------------------------------------- requests

const methods: Readonly<Record<string, string>> = {
  // One response has the status and the questions or the result (F9, F15).
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
    // F10: in the documents, the id is in `_meta`, under its own key.
    ...(isOfTask ? { taskId: live.taskId ?? taskId } : {}),
  };
  const meta = isOfTask ? {} : object(_meta);
  // F25: there is no hint. The server decides whether the call becomes a task, and the client declares that it can follow one.
  return envelope(methods[method] ?? method, own, {
    id,
    capabilities: follows,
    meta,
  });
}

// ---------------------------------------------------------------- results

/** Checks that the result is exactly the printed one in its final form. */
export function expectFinal({ result }: Answer, name: string): void {
  const {
    inputRequests,
    requestState: _state,
    task,
    isError,
    _meta,
    ...rest
  } = played(name).result ?? {};
  if (task !== undefined) return expectOwn(result, createdTask(object(task)));
  if (inputRequests !== undefined) {
    return expectOwn(result, {
      resultType: "input_required",
      inputRequests: finalRequests(object(inputRequests)),
      requestState: expect.stringMatching(/^v1\./),
    });
  }
  // A missing `isError` means false.
  expectOwn(result, { resultType: "complete", ...rest, ...(isError === true ? { isError } : {}) });
}

/** Compares a result without the server's name, which every result has and the documents leave out. */
export function expectOwn(result: Answer["result"], own: Members): void {
  const { _meta, ...rest } = result ?? {};
  expect(_meta).toEqual({
    "io.modelcontextprotocol/serverInfo": { name: "seeds", version: "1.0.0" },
  });
  expect(rest).toEqual(own);
}

/** Adds the mode, which the final form of an elicitation has. */
export function finalRequests(requests: Members): Members {
  return Object.fromEntries(
    Object.entries(requests).map(([key, request]) => {
      const { method, params } = object(request);
      const mode = method === "elicitation/create" ? { mode: "form" } : {};
      return [key, { method, params: { ...mode, ...object(params) } }];
    }),
  );
}

/** A new task in its final form: flat, with units in the names (F25). The server chooses times and the poll interval. */
function createdTask({ status, ttl }: Members): Members {
  return { resultType: "task", ...baseOf({ status, ttl }, expect.any(String)) };
}

/** Checks a response to `tasks/get`, which has the task together with its questions or its result (F9, F15). */
export function expectTask(
  { result }: Answer,
  name: string,
  { taskId }: Live,
  more: Members,
): void {
  expectOwn(result, {
    resultType: "complete",
    ...baseOf(played(name).result ?? {}, taskId),
    ...more,
  });
}

function baseOf({ status, ttl }: Members, taskId: unknown): Members {
  const time: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  return {
    taskId,
    status: lowerCase(status),
    createdAt: time,
    lastUpdatedAt: time,
    // A finished task is kept for a while, so its lifetime is not the printed one.
    ttlMs: lowerCase(status) === "completed" ? expect.any(Number) : ttl,
    pollIntervalMs: 1_000,
  };
}

/** F19: two statuses are printed with capitals, and one is cut short. */
function lowerCase(status: unknown): string {
  const text = String(status).toLowerCase();
  return text === "input_require" ? "input_required" : text;
}
