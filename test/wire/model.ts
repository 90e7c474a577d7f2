// A model that cannot be asked anything and sees only the text of tool results. It does what the text says, and its user
// answers the questions it finds there.

import { patience } from "../patience.ts";
import { callTool } from "./post.ts";
import type { Answer, To } from "./post.ts";

/** What the user says to each question, by its key. */
export type Says = Readonly<Record<string, unknown>>;

/** A client without any capability, as most hosts are. */
export const chat = { capabilities: {} };

/** The text blocks of a result. */
export function blocksIn({ result, error }: Answer): string[] {
  const content = result?.["content"];
  if (!Array.isArray(content)) throw new Error(`No content: ${JSON.stringify(error ?? result)}`);
  return content.map((block: { text?: unknown }) => String(block.text));
}

/** The handle in the instruction, as the model copies it. */
export function handleIn(answer: Answer): string {
  const handle = /"call":"([0-9A-Za-z]{22})"/.exec(blocksIn(answer)[0] ?? "")?.[1];
  if (handle === undefined) throw new Error(`No handle in: ${blocksIn(answer).join("\n")}`);
  return handle;
}

/** The second block, which is JSON after a word. */
export const detailsIn = (answer: Answer): unknown =>
  JSON.parse((blocksIn(answer)[1] ?? "Details: {}").replace(/^Details: /, ""));

/** The questions of a pause, by key. */
export function questionsIn(
  answer: Answer,
): Record<string, { message: string; schema?: object; url?: string }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the test expects
  return (detailsIn(answer) as { questions?: Record<string, { message: string }> }).questions ?? {};
}

export const goesOn = (to: To, args: Record<string, unknown>): Promise<Answer> =>
  callTool(to, "continue_call", args, chat);

/** Calls a tool and follows the texts of its results, until one does not say how to go on. */
export async function modelCalls(
  to: To,
  tool: string,
  args: Record<string, unknown>,
  says: Says,
): Promise<{ readonly last: Answer; readonly texts: readonly string[] }> {
  const texts: string[] = [];
  let answer = await callTool(to, tool, args, chat);
  const until = performance.now() + patience.timeout;
  while (performance.now() < until) {
    const [instruction = "", details = "{}"] = blocksIn(answer);
    texts.push(instruction);
    if (!instruction.startsWith("Not finished")) return { last: answer, texts };
    const call = handleIn(answer);
    const asked = instruction.includes('"answers"') ? Object.keys(questionsIn(answer)) : [];
    const answers = Object.fromEntries(asked.map((key) => [key, says[key]]));
    if (asked.some((key) => !(key in says))) throw new Error(`Nobody answers ${details}`);
    answer = await goesOn(to, asked.length === 0 ? { call } : { call, answers });
  }
  throw new Error("The model was sent around in circles.");
}
