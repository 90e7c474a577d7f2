// Which files of the project a server file is made of. Read from their text, so that it also works on a file that does
// not run: that is when its author is about to save the next version.

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";

const specifier = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}\/[^"']+)["']/g;
const script = /\.[cm]?[jt]sx?$/;

/** The file itself comes first. Packages are not followed: they do not change while one works. */
export function filesOf(entry: string): readonly string[] {
  const found = new Set<string>();
  const queue = [resolve(entry)];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    if (script.test(file)) queue.push(...importsOf(file));
  }
  return [...found];
}

function importsOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return [...readFileSync(file, "utf8").matchAll(specifier)].map(([, path = ""]) =>
    fileAt(resolve(dirname(file), path)),
  );
}

/** "./tool.js" may be tool.ts, "./tool" tool.ts or tool/index.ts. What is not there yet is watched for under its own name. */
function fileAt(path: string): string {
  const withoutExtension = path.slice(0, path.length - extname(path).length);
  const candidates = [
    path,
    ...[".ts", ".mts", ".cts", ".tsx"].map((extension) => withoutExtension + extension),
    ...[".ts", ".js", "/index.ts", "/index.js"].map((end) => path + end),
  ];
  return candidates.find(isFile) ?? path;
}

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
