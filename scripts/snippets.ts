// Keeps the code in documents and doc comments equal to code that runs, and the generated tables up to date.
//
// In a Markdown file, or in a doc comment of src/, a code fence after
//   <!-- source: examples/hello-ask/server.ts#server -->
// holds that region of that file. Between `<!-- generated: layers -->` and `<!-- end -->` stands the table of layers, and
// so do the tables of docs/scale.md, which are computed from measured costs.
//
// Usage: npx tsx scripts/snippets.ts [--check]
// Without `--check` it rewrites what differs. With it, it changes nothing and fails. Differences in layout do not count,
// because the formatter may break lines elsewhere when a region loses its indentation.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { scaleTables } from "../bench/scale/report.ts";
import { layerTable } from "../test/architecture/layers.ts";

const isCheck = process.argv.includes("--check");

const markdown = [".", "docs", "examples", "bench"]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  .filter((file) => file.endsWith(".md"));
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => join("src", file));

const generated: Readonly<Record<string, () => string>> = {
  layers: layerTable,
  ...scaleTables,
};

/** The first group is the start of every line: nothing in Markdown, ` * ` in a doc comment. */
const fence =
  /^([ \t]*(?:\* )?)(<!-- source: ([^\s#]+)(?:#(\S+))? -->\n(?:[ \t]*\*?[ \t]*\n)*[ \t]*(?:\* )?```\w*\n)([\s\S]*?)(^[ \t]*(?:\* )?```\n)/gm;
const block = /(<!-- generated: (\S+) -->\n\n)([\s\S]*?)(\n<!-- end -->)/g;

function region(path: string, name: string | undefined): string {
  const text = readFileSync(path, "utf8");
  if (name === undefined) return text.trimEnd();
  const [, found] = new RegExp(`// #region ${name}\\n([\\s\\S]*?)// #endregion`).exec(text) ?? [];
  if (found === undefined) throw new Error(`${path} has no region "${name}".`);
  return withoutIndentation(found.trimEnd());
}

function withoutIndentation(code: string): string {
  const lines = code.split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join("\n");
}

/** Without what the formatter may change. */
const laidOut = (code: string) => code.replaceAll(/\s+/g, "").replaceAll(/,(?=[)\]}])/g, "");
/** A table without the padding of its cells. */
const unpadded = (table: string) => table.replaceAll(/[ -]+/g, "").trim();

/** A comment that names a source. In this file and in code it has other characters around it. */
const named = /^[ \t]*(?:\* )?<!-- source: (\S+) -->$/gm;

let stale = 0;
let count = 0;

/** Without a fence after it, such a comment shows nothing. */
function checkFences(file: string, text: string): void {
  const fenced = new Set([...text.matchAll(fence)].map(({ index }) => index));
  for (const { index, 1: source } of text.matchAll(named)) {
    if (!fenced.has(index)) throw new Error(`${file}: there is no code fence after ${source}.`);
  }
}

function refreshed(text: string): string {
  return text
    .replaceAll(fence, (all, start: string, before: string, path: string, ...rest: string[]) => {
      count += 1;
      const [name, held = "", after = ""] = rest;
      const source = region(path, name);
      const heldCode = held
        .split("\n")
        .map((line) => (line.startsWith(start.trimEnd()) ? line.slice(start.length) : line))
        .join("\n");
      if (laidOut(heldCode) === laidOut(source)) return all;
      const lines = source.split("\n").map((line) => `${start}${line}`.trimEnd());
      return `${start}${before}${lines.join("\n")}\n${after}`;
    })
    .replaceAll(block, (all, before: string, name: string, held: string, after: string) => {
      count += 1;
      const table = generated[name]?.();
      if (table === undefined) throw new Error(`There is no generated text called "${name}".`);
      return unpadded(held) === unpadded(table) ? all : `${before}${table}${after}`;
    });
}

const files = [...markdown, ...sources];
for (const file of files) {
  const text = readFileSync(file, "utf8");
  checkFences(file, text);
  const fresh = refreshed(text);
  if (fresh === text) continue;
  stale += 1;
  if (isCheck) console.error(`${file}: differs from its source. Run: npm run format`);
  else writeFileSync(file, fresh);
}
console.log(`snippets: ${count} checked, ${stale} files ${isCheck ? "out of date" : "rewritten"}`);
if (isCheck && stale > 0) process.exitCode = 1;
