// Makes two runs comparable: removes what depends on time, numbers requests anew, and hides what no run repeats.

import { Hidden } from "./hidden.ts";
import type { Passed } from "./transcript.ts";

type Members = Record<string, unknown>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null;

export const messageOf = (one: Passed): Members =>
  "message" in one && isMembers(one.message) ? one.message : {};

export function tidy(passed: readonly Passed[]): Passed[] {
  return tidyWith(passed, undefined).passed;
}

/** The same, and what a client told about it in its own words, which may contain the same values. */
export function tidyWith<T>(
  passed: readonly Passed[],
  told: T,
): { readonly passed: Passed[]; readonly told: T } {
  const hidden = new Hidden();
  return {
    passed: numbered(withoutEnds(withoutWaiting(passed))).map((one) =>
      hidden.hide(withoutTrace(one)),
    ),
    told: hidden.hide(told),
  };
}

/** How often a client polls before something has happened depends on the machine. */
function withoutWaiting(passed: readonly Passed[]): Passed[] {
  const polls = new Set(
    passed.flatMap((one) => ("request" in one && isPoll(one) ? [one.request] : [])),
  );
  let last = "";
  const idle = new Set(
    passed.flatMap((one) => {
      const { result } = messageOf(one);
      if (!polls.has(numberOf(one)) || !isMembers(result)) return [];
      const { lastUpdatedAt: _, ...rest } = result;
      const state = JSON.stringify(rest);
      const isIdle = result["status"] === "working" || state === last;
      last = state;
      return isIdle ? [numberOf(one)] : [];
    }),
  );
  return passed.filter((one) => !idle.has(numberOf(one)) && !isAtWork(messageOf(one)));
}

/** The lines of a stack say nothing about the protocol. That there is a stack stays visible. */
function withoutTrace(one: Passed): Passed {
  if (!("response" in one) || !isMembers(one.message)) return one;
  const { message } = one;
  return "stackTrace" in message ? { ...one, message: { ...message, stackTrace: [] } } : one;
}

/** After its response, a stream ends by itself, sooner or later. Only that a client leaves an open one matters. */
function withoutEnds(passed: readonly Passed[]): Passed[] {
  return passed.filter(
    (one) => !("end" in one) || (one.by === "client" && !isAnswered(passed, one.end)),
  );
}

/** Whether the exchange has the response to its request. */
export function isAnswered(passed: readonly Passed[], number: number): boolean {
  return passed.some((one) => numberOf(one) === number && isAnswer(one));
}

/** Whether this is the response to a request of the client. */
export function isAnswer(one: Passed): boolean {
  const { result, error } = messageOf(one);
  return !("request" in one) && (result ?? error) !== undefined;
}

export const isPoll = (one: Passed) => messageOf(one)["method"] === "tasks/get";

/** Whether a message reports only that a task works. */
function isAtWork({ method, params }: Members): boolean {
  return method === "notifications/tasks" && isMembers(params) && params["status"] === "working";
}

export function numberOf(one: Passed): number {
  if ("request" in one) return one.request;
  if ("response" in one) return one.response;
  return "event" in one ? one.event : one.end;
}

/** Gives exchanges, and the requests of the client, numbers in the order in which they began. */
function numbered(passed: readonly Passed[]): Passed[] {
  const numbers = new Map<number, number>();
  const ids = new Map<unknown, number>();
  for (const one of passed) {
    if (!("request" in one)) continue;
    numbers.set(one.request, numbers.size + 1);
    const { id, method } = messageOf(one);
    if (method !== undefined && id !== undefined && id !== null) ids.set(id, ids.size + 1);
  }
  return passed.map((one) => {
    const number = numbers.get(numberOf(one)) ?? 0;
    const message =
      "message" in one ? { message: renamed(one.message, ids, "request" in one) } : {};
    if ("request" in one) return { ...one, request: number, ...message };
    if ("response" in one) return { ...one, response: number, ...message };
    if ("event" in one) return { event: number, message: message.message };
    return { ...one, end: number };
  });
}

const subscription = "io.modelcontextprotocol/subscriptionId";

/** The message with other ids for the requests of the client. */
export function renamed(
  message: unknown,
  ids: ReadonlyMap<unknown, unknown>,
  isOfClient: boolean,
): unknown {
  if (!isMembers(message)) return message;
  const isCall = message["method"] !== undefined;
  // A server has ids and tokens of its own for what it requests.
  const isOurs = isCall === isOfClient;
  const isTheirs = isCall && !isOurs && message["id"] !== undefined;
  return {
    ...message,
    ...(isOurs && ids.has(message["id"]) && { id: ids.get(message["id"]) }),
    ...(isMembers(message["params"]) && !isTheirs && { params: members(message["params"], ids) }),
    ...(isMembers(message["result"]) && { result: members(message["result"], ids) }),
  };
}

/** The members that name a request: its progress token, the subscription, and what is cancelled. */
function members(params: Members, ids: ReadonlyMap<unknown, unknown>): Members {
  const { requestId, _meta: meta, progressToken } = params;
  const at = (value: unknown) => ids.get(value) ?? ids.get(Number(value)) ?? value;
  return {
    ...params,
    ...(requestId !== undefined && { requestId: at(requestId) }),
    ...(progressToken !== undefined && { progressToken: at(progressToken) }),
    ...(isMembers(meta) && {
      _meta: {
        ...meta,
        ...(meta[subscription] !== undefined && { [subscription]: at(meta[subscription]) }),
        ...(meta["progressToken"] !== undefined && { progressToken: at(meta["progressToken"]) }),
      },
    }),
  };
}
