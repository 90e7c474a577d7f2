// A stream, line by line. Of a line that does not end, only its beginning is kept: a server could fill the memory with it.

import type { Readable } from "node:stream";

const mostLetters = 10_000;

export function onLines(stream: Readable, onLine: (line: string) => void): void {
  let line = "";
  const add = (part: string) => {
    if (line.length < mostLetters) line += part.slice(0, mostLetters - line.length);
  };
  const end = () => {
    onLine(line.replace(/\r$/, ""));
    line = "";
  };
  const decoder = new TextDecoder();
  stream.on("data", (chunk: Buffer) => {
    const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
    add(first);
    for (const part of others) {
      end();
      add(part);
    }
  });
  stream.once("end", () => {
    if (line !== "") end();
  });
}
