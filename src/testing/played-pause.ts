// A call that pauses because its client cannot be asked, as `play` sees it: the questions are in the result, and the answers
// go to `continue_call`, or to `answer_call` as the App sends them.

import type { InputRequest, InputRequired } from "../protocol/input-required.ts";
import { pauseMeta } from "../protocol/paused-call.ts";
import type { RoundResponse } from "../server/round/request.ts";
import { own } from "../util/objects.ts";

/** The pause in a response, in the form of a round that asks. Its handle takes the place of the state. */
export function pauseIn(response: RoundResponse): InputRequired | undefined {
  if (response.kind !== "complete") return undefined;
  const pause = own(response.result["_meta"], pauseMeta);
  if (pause === undefined) return undefined;
  const questions = Object.entries(own(pause, "questions") ?? {}).map(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the server has written it
    ([key, question]) => [key, own(question, "request") as InputRequest] as const,
  );
  return {
    resultType: "input_required",
    ...(questions.length === 0 ? {} : { inputRequests: Object.fromEntries(questions) }),
    requestState: String(own(pause, "call")),
  };
}

/** The secret of a pause that the App answers. */
export function secretIn(response: RoundResponse): string | undefined {
  if (response.kind !== "complete") return undefined;
  const pause = own(response.result["_meta"], pauseMeta);
  const isForApp = Object.values(own(pause, "questions") ?? {}).some(
    (question) => own(question, "way") === "app",
  );
  return isForApp ? String(own(pause, "secret")) : undefined;
}

/** The arguments of `continue_call` or `answer_call` for these answers. */
export function relayedBy(
  call: string,
  responses: Readonly<Record<string, object>> = {},
): Record<string, unknown> {
  const given = Object.entries(responses);
  const withAction = (action: string) => given.filter(([, one]) => own(one, "action") === action);
  return {
    call,
    answers: Object.fromEntries(
      withAction("accept").map(([key, one]) => [key, valueOf(own(one, "content"))]),
    ),
    decline: withAction("decline").map(([key]) => key),
    ...(withAction("cancel").length > 0 ? { cancel: true } : {}),
  };
}

/** Nothing to fill in means that the question was a confirmation. */
const valueOf = (content: unknown): unknown =>
  Object.keys(Object(content)).length === 0 ? true : content;

/** Tells a handle from a token. */
export const isHandle = (requestState: string): boolean => /^[0-9A-Za-z]{22}$/.test(requestState);
