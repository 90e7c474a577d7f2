// Tells the story of the demo line by line, and answers its questions: with a person at the terminal, or with a script.

import { style } from "../screen/style.ts";
import type { Printer } from "../screen/printer.ts";
import type { InputResponse } from "@modelcontextprotocol/client";
import type { OpenQuestion } from "../../client/index.ts";
import { askPerson } from "../prompts/person.ts";

/** Who acts in a line. */
export type Who = "you" | "replica 1" | "replica 2" | "kill -9" | "client" | "visitor" | "result";

const paint: Readonly<Record<Who, (text: string) => string>> = {
  you: style.bold,
  "replica 1": style.cyan,
  "replica 2": style.yellow,
  "kill -9": style.red,
  client: style.dim,
  visitor: style.bold,
  result: style.green,
};

/** Prints a line for each event: when, who and what. */
export class Narrator {
  readonly #printer: Printer;
  readonly #startedAt = performance.now();

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  readonly tell = (who: Who, what: string): void => {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    const when = style.dim(`${seconds.padStart(5)} s`);
    this.#printer.line(`${when}  ${paint[who](who.padEnd(9))}  ${what}`);
  };
}

/** A replica as it is named in a line. */
export const replicaName = (replica: number): Who => (replica === 1 ? "replica 1" : "replica 2");

/** Answers a question. */
export type Person = (question: OpenQuestion, signal: AbortSignal) => Promise<InputResponse>;

/** A person who is asked with prompts. */
export const atTheTerminal =
  (printer: Printer): Person =>
  (question, signal) =>
    printer.quiet((say) => askPerson(question, { say, signal }));

/** Answers yes to the first question, and chooses a network for the second. */
export const script =
  ({ tell }: Narrator): Person =>
  async (question) => {
    const isAboutNetwork = question.key === "network";
    const message = question.kind === "form" ? question.message : "";
    tell("you", `${message} ${isAboutNetwork ? "private" : "yes"}`);
    return { action: "accept", content: isAboutNetwork ? { network: "private" } : {} };
  };
