// The questions of `ctx` that no person answers: those for the client's language model and for its root folders.

import type { CreateMessageRequestParams, Root } from "@modelcontextprotocol/server";
import { ParleyError, UnansweredError } from "../../errors.ts";
import { rootsAnswer, sampleAnswer, unansweredReason } from "../../protocol/answers.ts";
import { capabilityNeededBy } from "../../protocol/capabilities.ts";
import type { QuestionSpec, Reading } from "../../replay/operations.ts";
import type { Sample, SampleParams } from "./context.ts";
import { common, shown, wrongKind } from "./questions.ts";
import type { QuestionParams } from "./questions.ts";

/** A question for the client's language model. */
export function sampleQuestion(
  question: QuestionParams,
  prompt: string | SampleParams,
): QuestionSpec {
  const { includeContext, ...asked } = samplingParams(
    typeof prompt === "string" ? { prompt } : prompt,
  );
  // `includeContext` is a hint, so it is sent only to clients that support it.
  const params =
    includeContext === undefined || !question.call.can("sampling.context")
      ? asked
      : { ...asked, includeContext };
  checkHistory(question.key, params.messages);
  const needs = capabilityNeededBy({ method: "sampling/createMessage", params });
  return {
    ...common(question, needs, [params]),
    read: (raw) => {
      const answer = sampleAnswer(raw);
      if (answer === undefined) return noAnswer(question.key, raw) ?? wrongKind("a completion");
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sampleAnswer has looked at it
      const message = raw as unknown as Sample["message"];
      return { kind: "value", value: { ...answer, message } satisfies Sample };
    },
    shown: shown(() => ({ method: "sampling/createMessage", params })),
  };
}

const defaultMaxTokens = 1024;

function samplingParams(params: SampleParams): CreateMessageRequestParams {
  const { prompt, messages = [], maxTokens = defaultMaxTokens, ...rest } = params;
  const asked: CreateMessageRequestParams["messages"] =
    prompt === undefined ? [] : [{ role: "user", content: { type: "text", text: prompt } }];
  return { ...rest, messages: [...messages, ...asked], maxTokens };
}

/** Model APIs require that a message with tool calls is followed by their results and nothing else. */
function checkHistory(key: string, messages: CreateMessageRequestParams["messages"]): void {
  for (const [index, { content }] of messages.entries()) {
    const calls = [content]
      .flat()
      .flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    if (calls.length === 0) continue;
    const next = messages[index + 1];
    const results = [next?.content ?? []]
      .flat()
      .map((block) => (block.type === "tool_result" ? block.toolUseId : undefined));
    const isAnswered =
      next?.role === "user" &&
      results.length === calls.length &&
      calls.every((id) => results.includes(id));
    if (isAnswered) continue;
    throw new ParleyError(
      "not_askable",
      `Question "${key}" has a message that calls tools, and the next message is not a user message with their results alone. Add one tool_result for each tool_use.`,
    );
  }
}

/** A question for the client's root folders. */
export function rootsQuestion(question: QuestionParams): QuestionSpec {
  return {
    ...common(question, "roots", []),
    read: (raw) => {
      const roots: Root[] | undefined = rootsAnswer(raw);
      return roots === undefined
        ? (noAnswer(question.key, raw) ?? wrongKind("a list of file:// roots"))
        : { kind: "value", value: roots };
    },
    shown: shown(() => ({ method: "roots/list", params: {} })),
  };
}

/** A completion and a list of roots cannot be declined, but the client may have responded with an error. */
function noAnswer(key: string, raw: unknown): Reading | undefined {
  const reason = unansweredReason(raw);
  return reason && { kind: "refused", error: new UnansweredError(key, reason) };
}
