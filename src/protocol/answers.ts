// Reads the values of `inputResponses`. They are bare results of three kinds, and nothing in them says which. The client is
// not trusted, so each function checks everything that is used later and copies nothing else.

import type { Root } from "@modelcontextprotocol/server";
import type { UnansweredReason } from "../errors.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

/** The answer to an elicitation. Its content has not been checked against the form. */
export type ElicitAnswer =
  | { readonly action: "accept"; readonly content: unknown }
  | { readonly action: "decline" | "cancel" };

/** Reads the answer to an elicitation. Undefined if it is something else. */
export function elicitAnswer(raw: unknown): ElicitAnswer | undefined {
  const { action, content } = members(raw);
  if (action === "decline" || action === "cancel") return { action };
  return action === "accept" ? { action, content } : undefined;
}

/** An answer that says that there is none. It fits every kind of question, and an elicitation is cancelled. */
export const unanswered = (reason: UnansweredReason): object => ({
  action: "cancel",
  _meta: { [unansweredKey]: reason },
});

/** Why there is no answer, if `unanswered` made this. */
export function unansweredReason(raw: unknown): UnansweredReason | undefined {
  const reason = own(own(raw, "_meta"), unansweredKey);
  return reasons.find((one) => one === reason);
}

const unansweredKey = "mcp-parley/unanswered";
const reasons: readonly UnansweredReason[] = ["declined", "cancelled", "timed_out", "unsupported"];

/** What the client's model said. */
export interface SampleAnswer {
  readonly text: string;
  readonly model: string;
  readonly stopReason: string | undefined;
}

/** Reads a completion. Its text is that of all its text blocks. Undefined if it is something else. */
export function sampleAnswer(raw: unknown): SampleAnswer | undefined {
  const { role, content, model, stopReason } = members(raw);
  if (role !== "assistant" || typeof model !== "string") return undefined;
  if (stopReason !== undefined && typeof stopReason !== "string") return undefined;
  const blocks = Array.isArray(content) ? content : [content];
  const texts: string[] = [];
  for (const block of blocks) {
    const { type, text } = members(block);
    if (typeof type !== "string") return undefined;
    if (type !== "text") continue;
    if (typeof text !== "string") return undefined;
    texts.push(text);
  }
  return { text: texts.join(""), model, stopReason };
}

/** Reads the client's roots. Undefined unless all of them are `file:` URLs, the only kind that the specification allows. */
export function rootsAnswer(raw: unknown): Root[] | undefined {
  const { roots } = members(raw);
  if (!Array.isArray(roots)) return undefined;
  const found: Root[] = [];
  for (const root of roots) {
    const { uri, name } = members(root);
    if (typeof uri !== "string" || !uri.startsWith("file://") || !URL.canParse(uri))
      return undefined;
    if (name !== undefined && typeof name !== "string") return undefined;
    found.push(name === undefined ? { uri } : { uri, name });
  }
  return found;
}

/** The answers by key. Undefined if they are not a map of objects, or if they are too many or nested too deep. */
export function answerMap(raw: unknown): ReadonlyMap<string, object> | undefined {
  if (raw === undefined) return new Map();
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return undefined;
  const entries = Object.entries(raw);
  if (entries.length > mostAnswers) return undefined;
  const answers = new Map<string, object>();
  for (const [key, value] of entries) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (isDeeper(value, deepest)) return undefined;
    answers.set(key, value);
  }
  return answers;
}

// More than any server asks, and deeper than any answer. The tool results of a completion have a few levels.
const mostAnswers = 1_000;
const deepest = 100;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** The members of an object. Empty for any other value. */
function members(value: unknown): Members {
  return isObject(value) ? value : {};
}
