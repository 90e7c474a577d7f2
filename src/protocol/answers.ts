// The values of `inputResponses`: bare results of three kinds, with nothing in them that says which. The
// client is not trusted: each guard looks at all that is used later, and copies nothing else.

import type { Root } from "@modelcontextprotocol/server";
import { isObject } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

export type ElicitAnswer =
  | { readonly action: "accept"; readonly content: unknown }
  | { readonly action: "decline" | "cancel" };

export function elicitAnswer(raw: unknown): ElicitAnswer | undefined {
  const { action, content } = members(raw);
  if (action === "decline" || action === "cancel") return { action };
  return action === "accept" ? { action, content } : undefined;
}

export interface SampleAnswer {
  readonly text: string;
  readonly model: string;
  readonly stopReason: string | undefined;
}

/** A completion; its text is that of all its text blocks. */
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

/** Roots are files of the client's machine and nothing else. */
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

/** The answers by key, or undefined where they are not even a map of objects of a decent size. */
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

// More than any server asks, and deeper than any answer: a completion's tool results are a few levels.
const mostAnswers = 1_000;
const deepest = 100;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

/** An object with these members; with none for anything else. */
function members(value: unknown): Members {
  return isObject(value) ? value : {};
}
