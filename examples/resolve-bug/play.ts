// Plays the tool in the terminal: real rounds, real tokens, no server. You are the client; without a
// terminal a script is.

import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import { declined, play } from "mcp-parley/testing";
import type { Asked, Scripted } from "mcp-parley/testing";
import { resolveBug } from "./tool.ts";

const script: Record<string, Scripted> = { how: "Duplicate", of: 4301 };

async function byScript({ key, message, round }: Asked): Promise<Scripted> {
  const answer = script[key] ?? declined;
  console.log(`round ${round}  ${message}  ${JSON.stringify(answer)}  (from the script)`);
  return answer;
}

/** An empty line declines. */
async function byPerson({ key, message, schema, round }: Asked): Promise<Scripted> {
  const field = schema?.properties[key];
  const choices = field?.type === "string" && field.enum ? ` [${field.enum.join(", ")}]` : "";
  const terminal = createInterface({ input: stdin, output: stdout });
  const answer = await terminal.question(`round ${round}  ${message}${choices} `);
  terminal.close();
  if (answer.trim() === "") return declined;
  return field?.type === "integer" ? Number(answer) : answer;
}

console.log("tools/call resolve_bug { id: 4522 }\n");
const call = await play(resolveBug, { id: 4522 }, stdin.isTTY ? byPerson : byScript);
console.log(`\n${call.isError ? "error" : "result"}: ${call.text}\n`);
console.log(`The handler ran ${call.rounds} times, from its top, each time on a fresh instance.`);
console.log(`Its step "close" ran ${call.ran("close")} time(s).`);
console.log(
  `Between rounds all it knew was in the token: ${call.tokenBytes.join(", ")} bytes, sealed.`,
);
