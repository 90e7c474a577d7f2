// A long line, broken between words, with the beginning of each part where that of the line is.

export function wrapped(line: string, columns: number): readonly string[] {
  const [indent = ""] = /^ */.exec(line) ?? [];
  const room = Math.max(20, columns - indent.length - 1);
  const parts = line.match(new RegExp(`\\S.{0,${room - 1}}(?=\\s|$)|\\S+`, "g")) ?? [""];
  return parts.map((part) => `${indent}${part}`);
}
