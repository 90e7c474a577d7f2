// The words in which an author asks what a client supports: those of `ctx.can` and `requires`.

/** Something that a tool can require of its clients. The words are those of `ctx.can`. */
export type RequiredAbility = "form" | "url" | "sampling" | "roots" | "task" | "ask";

/** What each of them is called in messages. */
export const abilityNames: Readonly<Record<RequiredAbility, string>> = {
  form: "forms",
  url: "pages",
  sampling: "sampling",
  roots: "roots",
  task: "tasks",
  ask: "questions",
};

/** Whether this is one of the words. */
export const isRequirable = (word: string): word is RequiredAbility =>
  Object.hasOwn(abilityNames, word);

/** The words, for messages. */
export const requirableWords: string = Object.keys(abilityNames).join(", ");
