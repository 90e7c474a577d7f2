// Watches the files that a server file consists of. Folders are watched instead of files, because some editors replace a
// file instead of writing to it.

import { existsSync, readFileSync, statSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { dirname, extname, resolve } from "node:path";

/** Editors write a file in several steps. */
const quietMs = 80;

/** Calls back when the text of a file has changed. */
export class Watched {
  readonly #onChange: (file: string) => void;
  readonly #texts = new Map<string, string>();
  readonly #folders = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /** Watches these files from now on, and no others. */
  readonly set = (files: readonly string[]): void => {
    this.#texts.clear();
    for (const file of files) this.#texts.set(file, textOf(file));
    const folders = new Set(
      files.map((file) => dirname(file)).filter((folder) => existsSync(folder)),
    );
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const folder of folders) {
      if (this.#folders.has(folder)) continue;
      this.#folders.set(folder, watch(folder, this.#lookSoon));
    }
  };

  readonly close = (): void => {
    clearTimeout(this.#timer);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
  };

  readonly #lookSoon = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#look, quietMs);
  };

  /** Compares the text, because touching a file is not a reason to restart. */
  readonly #look = (): void => {
    const changed = [...this.#texts].filter(([file, text]) => textOf(file) !== text);
    for (const [file] of changed) this.#texts.set(file, textOf(file));
    const [first] = changed;
    if (first !== undefined) this.#onChange(first[0]);
  };
}

/** Empty if the file does not exist or cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const specifier = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}\/[^"']+)["']/g;
const script = /\.[cm]?[jt]sx?$/;

/**
 * The file and those it imports by a relative path. The imports are read from the text, so that it also works for a file
 * that does not run. Packages are not followed, because they do not change during development.
 */
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

/** "./tool.js" can be tool.ts, "./tool" can be tool.ts or tool/index.ts. A file that does not exist yet is watched too. */
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
