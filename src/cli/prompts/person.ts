// Asks a person at the terminal a question of any kind.

import { text } from "@clack/prompts";
import type { InputResponse } from "@modelcontextprotocol/client";
import type { OpenQuestion, SamplingQuestion, UrlQuestion } from "../../client/index.ts";
import { own } from "../../util/objects.ts";
import { urlWarnings } from "./url-warnings.ts";
import { worded } from "./form-field.ts";
import { askForm } from "./form.ts";
import { saidByPerson } from "../args/given-answers.ts";
import { counted } from "../screen/amounts.ts";
import { plainJson, plainLine, plainText } from "../screen/plain.ts";
import { accept, Refused, through } from "./prompt.ts";
import type { Asking } from "./prompt.ts";
import { signs, style } from "../screen/style.ts";

export { Interrupted, Withdrawn } from "./prompt.ts";

type Sampling = SamplingQuestion;

/** The person did not answer for the model. The protocol has no way to decline that, so the call ends. */
export class NotTaken extends Error {
  override readonly name = "NotTaken";
}

/** Asks a person, and returns the answer or the refusal. */
export async function askPerson(question: OpenQuestion, asking: Asking): Promise<InputResponse> {
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
    if (question.kind === "sampling")
      throw new NotTaken("You did not answer for the model, so the call was cancelled.");
    return { action: error.action };
  }
}

/** Shows the whole address. Only the person opens it. */
async function askPage(question: UrlQuestion, asking: Asking): Promise<InputResponse> {
  asking.say(style.bold(plainText(question.message)));
  asking.say(`   ${style.dim("The page is on")} ${style.bold(plainLine(question.host))}`);
  asking.say(`   ${style.cyan(plainLine(question.url, 4_000))}`);
  for (const doubt of urlWarnings(question))
    asking.say(style.yellow(`   ${signs.warning} ${doubt}`));
  await accept(
    "Open the page yourself if you trust it. Continue when you are done.",
    { accept: "Continue", decline: "Decline", cancel: "Cancel" },
    asking,
  );
  return { action: "accept" };
}

async function askForModel({ params }: Sampling, asking: Asking): Promise<InputResponse> {
  asking.say(
    style.bold(
      "The server asks your AI model. This command does not have one, so you can answer for it.",
    ),
  );
  for (const line of spoken(params)) asking.say(`   ${line.replaceAll("\n", "\n   ")}`);
  const most = plainLine(worded(params.maxTokens), 20);
  const said = await through(asking, (common) =>
    text({
      ...common,
      message: `Your answer for the model ${style.dim(`(at most ${most} tokens)`)}`,
      validate: (value = "") => (value === "" ? "Expected text." : undefined),
    }),
  );
  return saidByPerson(said ?? "");
}

const mostMessages = 50;

/** The messages for the model. A server can send any content. */
function* spoken({ systemPrompt, messages }: Sampling["params"]): Iterable<string> {
  if (systemPrompt !== undefined) yield quoted("system", systemPrompt);
  for (const message of messages.slice(0, mostMessages)) {
    const content = own(message, "content");
    for (const block of Array.isArray(content) ? content : [content]) {
      const said = own(block, "type") === "text" ? own(block, "text") : block;
      yield quoted(own(message, "role"), said);
    }
  }
  const more = messages.length - mostMessages;
  if (more > 0) yield style.dim(`and ${counted(more, "message")} more`);
}

const quoted = (who: unknown, said: unknown) =>
  `${style.dim(`${plainLine(worded(who), 40)}:`)} ${plainText(worded(said))}`;

/** An answer on one line. */
export function shownAnswer(question: OpenQuestion, answer: InputResponse): string {
  if ("action" in answer) {
    if (answer.action !== "accept") return answer.action === "decline" ? "declined" : "cancelled";
    if (question.kind !== "form") return "accepted";
    const values = Object.values(answer.content ?? {});
    if (Object.keys(question.schema.properties).length === 0) return "yes";
    const shown = values.map((value) => (typeof value === "string" ? value : plainJson(value)));
    return plainLine(shown.join(", "), 60);
  }
  return "answered";
}
