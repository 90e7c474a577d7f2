// Who answers: a person at the terminal, or a script.

import type { InputResponse } from "@modelcontextprotocol/client";
import type { OpenQuestion } from "../../client/index.ts";
import { askPerson } from "../prompts/person.ts";
import type { Talk } from "../screen/talk.ts";
import type { Narrator } from "./narrator.ts";

export type Person = (question: OpenQuestion, signal: AbortSignal) => Promise<InputResponse>;

export const atTheTerminal =
  (talk: Talk): Person =>
  (question, signal) =>
    talk.quiet((say) => askPerson(question, { say, signal }));

/** Yes to the first question, and a network for the second. */
export const script =
  ({ tell }: Narrator): Person =>
  async (question) => {
    const isAboutNetwork = question.key === "network";
    const message = question.kind === "form" ? question.message : "";
    tell("you", `${message} ${isAboutNetwork ? "private" : "yes"}`);
    return { action: "accept", content: isAboutNetwork ? { network: "private" } : {} };
  };
