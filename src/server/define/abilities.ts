// The words for what a client supports, as authors pass them to `ctx.can` and `requires`.

import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import { streamingExtension } from "../../protocol/streaming.ts";
import { tasksExtension } from "../../protocol/task.ts";

/** Something that a tool can require of its clients. The words are those of `ctx.can`. "stream": parts reach the client. */
export type RequiredAbility = "form" | "url" | "sampling" | "roots" | "task" | "ask" | "stream";

/** What each of them is called in messages. */
export const abilityNames: Readonly<Record<RequiredAbility, string>> = {
  form: "forms",
  url: "pages",
  sampling: "sampling",
  roots: "roots",
  task: "tasks",
  ask: "questions",
  stream: "streaming",
};

/** Whether this is one of the words. */
export const isRequirable = (word: string): word is RequiredAbility =>
  Object.hasOwn(abilityNames, word);

/** What a client declares itself. Whether it can be asked depends on the server as well. */
export type Declared = Exclude<RequiredAbility, "ask">;

/** The name under which a call keeps it. The word and the extension's id mean the same. */
export function keptAs(word: Declared | ExtensionId): Ability | ExtensionId {
  if (word === "stream") return streamingExtension;
  return word === tasksExtension ? "task" : word;
}

/** The words, for messages. */
export const requirableWords: string = Object.keys(abilityNames).join(", ");
