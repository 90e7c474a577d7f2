// Keeps the code in the documents equal to code that runs. A fence that is preceded by
//   <!-- source: examples/x.ts#region -->
// holds that region of that file. `--check` fails on any difference but in layout (the formatter sets a region without
// the indentation it had in its file, so lines may break elsewhere); without it the fence is rewritten.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

const isCheck = process.argv.includes("--check");
const documents = [".", "docs"]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  .filter((file) => file.endsWith(".md"));

const fence = /(<!-- source: ([^\s#]+)(?:#(\S+))? -->\n+```\w*\n)([\s\S]*?)(```\n)/g;

function region(path: string, name: string | undefined): string {
  const text = readFileSync(path, "utf8");
  if (name === undefined) return text.trimEnd();
  const [, found] = new RegExp(`// #region ${name}\\n([\\s\\S]*?)// #endregion`).exec(text) ?? [];
  if (found === undefined) throw new Error(`${path} has no region "${name}"`);
  return found.trimEnd();
}

/** Without what the formatter may change. */
const laidOut = (code: string) => code.replaceAll(/\s+/g, "").replaceAll(/,(?=[)\]}])/g, "");

let stale = 0;
let count = 0;
for (const document of documents) {
  const text = readFileSync(document, "utf8");
  const fresh = text.replaceAll(
    fence,
    (all, before: string, path: string, name: string | undefined, held: string, after: string) => {
      count += 1;
      const source = region(path, name);
      return laidOut(held) === laidOut(source) ? all : `${before}${source}\n${after}`;
    },
  );
  if (fresh === text) continue;
  stale += 1;
  if (isCheck) console.error(`${document}: a code fence differs from its source`);
  else writeFileSync(document, fresh);
}
console.log(
  `snippets: ${count} in ${documents.length} documents, ${stale} ${isCheck ? "stale" : "rewritten"}`,
);
if (isCheck && stale > 0) process.exitCode = 1;
