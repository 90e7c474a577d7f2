// What all drivers in JavaScript share. Each line on standard input is a call, and each line on standard output its texts.

import { createInterface } from "node:readline";

/** Serves calls until the input ends. `call` returns the content of a result, or its text. */
export async function serve(call, close = async () => {}) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { name, args } = JSON.parse(line);
    let answer;
    try {
      answer = { texts: textsIn(await call(name, args)) };
    } catch (error) {
      answer = { texts: [error instanceof Error ? error.message : JSON.stringify(error)] };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await close();
  process.exit(0);
}

function textsIn(found) {
  if (typeof found === "string") return [found];
  const blocks = Array.isArray(found) ? found : found?.content;
  if (typeof blocks === "string") return [blocks];
  if (!Array.isArray(blocks)) return [JSON.stringify(found)];
  return blocks.map((block) => block?.text ?? JSON.stringify(block));
}
