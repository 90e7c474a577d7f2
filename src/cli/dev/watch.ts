// Says when one of some files has another text than before. Their folders are watched, not they: an editor replaces a
// file as often as it writes to it.

import { existsSync, readFileSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { dirname } from "node:path";

/** Editors write a file in several goes. */
const quietMs = 80;

export class Watched {
  readonly #onChange: (file: string) => void;
  readonly #texts = new Map<string, string>();
  readonly #folders = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /** From now on these, and no others. */
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

  /** At the text itself: a file that was merely touched is no reason to start anything anew. */
  readonly #look = (): void => {
    const changed = [...this.#texts].filter(([file, text]) => textOf(file) !== text);
    for (const [file] of changed) this.#texts.set(file, textOf(file));
    const [first] = changed;
    if (first !== undefined) this.#onChange(first[0]);
  };
}

/** None where there is no such file, or nobody may read it. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
