// The client's messages tell a programmer what to pass to `connect`. A person at a command line has options instead.

import { CallError } from "../../client/index.ts";
import type { OpenQuestion } from "../../client/index.ts";
import { own } from "../../util/objects.ts";

/** The same error, with advice for a command line. */
export function inCommandWords<E extends Error>(error: E): E | CallError {
  if (!(error instanceof CallError)) return error;
  const message = messageOf(error);
  if (message === error.message) return error;
  const { code, ref, question, taskId, rpc, cause } = error;
  return new CallError(code, message, { ref, question, taskId, rpc, cause });
}

function messageOf({ code, message, rpc, question, taskId }: CallError): string {
  if (code === "capability_missing") {
    const isRoots = own(own(rpc?.data, "requiredCapabilities"), "roots") !== undefined;
    return `${rpc?.message ?? withoutApi(message)} ${isRoots ? withRoot : withoutAs}`;
  }
  if (code === "unhandled_question") {
    return `${asked(question)} ${question?.kind === "roots" ? withRoot : withoutAs}`;
  }
  if (code === "too_large" && ofApi.test(message)) {
    return "The server's response is larger than this command accepts, so it was cut off.";
  }
  if (code === "timed_out") {
    return withoutApi(message).replace(ofTimeout, (_, ms: string) =>
      taskId === undefined
        ? `The server took longer than --timeout allows (${ms}). The call may still be running.`
        : `The task took longer than --timeout allows (${ms}). It goes on without this command.`,
    );
  }
  const kept = withoutApi(message);
  const isAboutVersion = code === "bad_reference" || code === "era_not_shared";
  return isAboutVersion && kept !== message ? `${kept} ${withoutAs}` : kept;
}

const withoutAs = "Leave out --as, and try again.";
const withRoot = "Name the folders that it may use with --root DIR, and call again.";

const asked = (question: OpenQuestion | undefined) =>
  `The server asked ${question === undefined ? "a question" : `"${question.key}"`}, which this command may not answer.`;

const ofTimeout = /^The server took longer than timeoutMs allows \((.+?)\)\.$/;
const ofApi = /connect\(|\blimits\.\w|\berror\.ref\b|\bera: "|\bforget\(|\bresume\(/;

/** The message without the sentences that name a part of the API. */
function withoutApi(message: string): string {
  const sentences = message.split(/(?<=[.!?])\s+(?=[A-Z])/);
  const kept = sentences.filter((sentence) => !ofApi.test(sentence));
  return kept.length === 0 ? message : kept.join(" ");
}
