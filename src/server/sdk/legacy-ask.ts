// A question to a 2025-11-25 client, which the server asks with a request of its own. If the client responds with an error,
// that is an answer too: the handler learns that its question stays unanswered, and why.

import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/server";
import type { ServerContext } from "@modelcontextprotocol/server";
import type { UnansweredReason } from "../../errors.ts";
import { unanswered } from "../../protocol/answers.ts";
import { invalidParams, invalidRequest, methodNotFound } from "../../protocol/error-codes.ts";
import { errorText } from "../../util/error-text.ts";
import type { Core } from "../core.ts";
import { shortId } from "../../util/short-id.ts";
import { members } from "./task-subscriptions/subscriptions.ts";

/** A question that goes to the client. */
export interface LegacyQuestion {
  /** The name of the tool, prompt or resource that asks. */
  readonly handler: string;
  /** The ids of the call and of its task, for the log. */
  readonly call?: string | undefined;
  readonly task?: string | undefined;
  readonly key: string;
  /** The input request, as 2026-07-28 writes it. */
  readonly request: unknown;
  /** Members for `_meta` of the request. */
  readonly meta?: object | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Whether a client that reports progress gets the whole time again. */
  readonly isRenewable?: boolean;
}

/** Resolves to the answer. Rejects only if the signal aborts or the connection is lost. */
export async function askClient(
  core: Core,
  { mcpReq }: ServerContext,
  question: LegacyQuestion,
): Promise<object> {
  const { method, params } = requestOf(question.request, core.environment.newId);
  const { meta, signal, timeoutMs: timeout, isRenewable = false } = question;
  const sent = { method, params: { ...params, ...(meta === undefined ? {} : { _meta: meta }) } };
  try {
    const renewal = isRenewable ? { resetTimeoutOnProgress: true, onprogress: () => {} } : {};
    return await mcpReq.send(sent, { signal, timeout, ...renewal });
  } catch (error) {
    if (signal.aborted || isLost(error)) throw error;
    return unanswered(noAnswer(core, question, error));
  }
}

function noAnswer(
  { logger }: Core,
  { handler, call, task, key }: LegacyQuestion,
  error: unknown,
): UnansweredReason {
  const reason = reasonOf(error);
  const text = errorText(error).slice(0, longestText);
  const message =
    reason === "timed_out"
      ? "The client did not answer a question in time, so it stays unanswered."
      : `The client answered a question with an error, so it stays unanswered: ${text}`;
  logger.warn(message, {
    handler,
    ...(call === undefined ? {} : { call }),
    ...(task === undefined ? {} : { task: shortId(task) }),
    question: key,
    reason,
  });
  return reason;
}

const longestText = 200;

/** The client has gone, so no answer can come. */
const isLost = (error: unknown): boolean =>
  error instanceof SdkError && lost.some((code) => code === error.code);

const lost = [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected, SdkErrorCode.SendFailed];

function reasonOf(error: unknown): UnansweredReason {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return "timed_out";
  if (!(error instanceof ProtocolError)) return "cancelled";
  // Clients without a handler for a kind of question respond with one of these, even if they have declared the kind.
  if ([invalidRequest, methodNotFound, invalidParams].includes(error.code)) return "unsupported";
  return error.code === rejectedByUser ? "declined" : "cancelled";
}

/** The code that the specification shows for a person who says no to a completion. */
const rejectedByUser = -1;

/** A question in the form of 2025-11-25, where a page to open has an id. */
function requestOf(
  request: unknown,
  newId: () => string,
): { readonly method: QuestionMethod; readonly params: object } {
  const { method, params } = members(request);
  if (!isQuestionMethod(method)) throw new TypeError(`${String(method)} is not a question`);
  const isPage = members(params)["mode"] === "url";
  return { method, params: { ...members(params), ...(isPage ? { elicitationId: newId() } : {}) } };
}

const questionMethods = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;
type QuestionMethod = (typeof questionMethods)[number];
const isQuestionMethod = (method: unknown): method is QuestionMethod =>
  questionMethods.some((one) => one === method);
