// A person's answer to a question of any kind.

import { text } from "@clack/prompts";
import type { InputResponse } from "@modelcontextprotocol/client";
import type { Pending } from "../client/index.ts";
import { askForm } from "./form-prompts.ts";
import { saidByPerson } from "./given-answers.ts";
import { plain, plainJson, plainLine } from "./plain.ts";
import { accept, Refused, through } from "./prompt.ts";
import type { Asking } from "./prompt.ts";
import { signs, style } from "./style.ts";

// What else can come of it.
export { Interrupted, Withdrawn } from "./prompt.ts";

/** A model's part was not taken over; there is no way to tell the server but to end the call. */
export class NotTaken extends Error {
  override readonly name = "NotTaken";
}

export async function askPerson(question: Pending, asking: Asking): Promise<InputResponse> {
  try {
    switch (question.kind) {
      case "form":
        return await askForm(question, asking);
      case "url":
        return await askPage(question, asking);
      case "sampling":
        return await askForModel(question, asking);
      case "roots":
        return { roots: [] };
    }
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (question.kind === "sampling") throw new NotTaken("You did not take over the model's part.");
    return { action: error.action };
  }
}

/** Shown in full, and opened by nobody but the person. */
async function askPage(
  { message, url, host, isPunycode }: Extract<Pending, { kind: "url" }>,
  asking: Asking,
): Promise<InputResponse> {
  asking.say(style.bold(plain(message).trim()));
  asking.say(`   ${style.dim("the page is at")} ${style.bold(plainLine(host))}`);
  asking.say(`   ${style.cyan(plainLine(url, 4_000))}`);
  if (isPunycode) {
    asking.say(
      style.yellow(
        `   ${signs.warning} This name has letters that look like others. Is it the one you mean?`,
      ),
    );
  }
  await accept("Open it yourself, if you trust it. Nothing is opened from here.", "Go on", asking);
  return { action: "accept" };
}

async function askForModel(
  { params }: Extract<Pending, { kind: "sampling" }>,
  asking: Asking,
): Promise<InputResponse> {
  asking.say(
    style.bold("The server asks your model. There is none here, so you may answer for it."),
  );
  if (params.systemPrompt !== undefined) asking.say(quoted("system", params.systemPrompt));
  for (const { role, content } of params.messages) {
    for (const block of Array.isArray(content) ? content : [content]) {
      asking.say(quoted(role, block.type === "text" ? block.text : `(${block.type})`));
    }
  }
  const said = await through(asking, (common) =>
    text({
      ...common,
      message: `Your answer, as the model ${style.dim(`(at most ${params.maxTokens} tokens)`)}`,
      validate: (value = "") => (value === "" ? "Expected text." : undefined),
    }),
  );
  return saidByPerson(said ?? "");
}

const quoted = (who: string, said: string) =>
  `   ${style.dim(`${plainLine(who)}:`)} ${plain(said).trim().slice(0, 4_000).replaceAll("\n", "\n   ")}`;

/** An answer as it was given, on one line. */
export function shownAnswer(question: Pending, answer: InputResponse): string {
  if ("action" in answer) {
    if (answer.action !== "accept") return answer.action === "decline" ? "declined" : "cancelled";
    if (question.kind !== "form") return "accepted";
    const values = Object.values(answer.content ?? {});
    const shown = values.map((value) => (typeof value === "string" ? value : plainJson(value)));
    return plainLine(shown.join(", "), 60);
  }
  return "answered";
}
