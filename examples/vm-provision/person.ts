// The person at the client: asked in the terminal; without one, or with --auto, a script answers.

import process, { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import type { Form, FormAnswer } from "../task-client.ts";

export const isScripted = !stdin.isTTY || process.argv.includes("--auto");

const script: Record<string, string> = { network: "private" };

/** A form of one choice, or an empty one: that is a yes or no. */
export async function answer({ message, requestedSchema }: Form): Promise<FormAnswer> {
  const [field] = Object.entries(requestedSchema.properties);
  if (field === undefined) {
    const said = await say(message, ["yes", "no"], "yes");
    return { action: said.startsWith("y") ? "accept" : "decline" };
  }
  const [name, { enum: choices = [] }] = field;
  return { action: "accept", content: { [name]: await say(message, choices, script[name] ?? "") } };
}

async function say(message: string, choices: readonly string[], scripted: string): Promise<string> {
  console.log(`  ? ${message} [${choices.join(", ")}]`);
  if (isScripted) {
    console.log(`  > ${scripted}  (from the script)`);
    return scripted;
  }
  const terminal = createInterface({ input: stdin, output: stdout });
  const said = await terminal.question("  > ");
  terminal.close();
  return said.trim();
}
