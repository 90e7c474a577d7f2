// A mark on each call in the journal, made with a key in the person's own folder. A journal can come with a cloned
// repository or from another user. Only a call with the mark was started by this person, so only such a call may start a
// program or receive a token when it is resumed.

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { isMarkOf, markOf, newMarkKey, readMarkKey } from "../../token/mark.ts";
import { configFolder } from "../config-folder.ts";
import type { Io } from "../command.ts";

const version = "own1.";

/** A reference as it was found in the journal. */
export interface Unmarked {
  readonly text: string;
  /** Whether this person's command has written it. */
  readonly isOwn: boolean;
}

/** Marks references, and recognises its own marks. */
export class OwnMark {
  readonly #file: string;
  #key: Buffer | undefined;

  constructor(env: Io["env"]) {
    this.#file = join(configFolder(env), "journal-key");
  }

  /** The reference with a mark. Without one if the person's folder cannot be written to. */
  readonly mark = (text: string): string => {
    this.#key ??= readKey(this.#file) ?? createKey(this.#file);
    return this.#key === undefined ? text : `${version}${markOf(text, this.#key)}.${text}`;
  };

  /** The reference without its mark. */
  readonly unmark = (marked: string): Unmarked => {
    const [, mark, text] = /^own1\.([\w-]{43})\.(.*)$/s.exec(marked) ?? [];
    if (mark === undefined || text === undefined) return { text: marked, isOwn: false };
    this.#key ??= readKey(this.#file);
    if (this.#key === undefined) return { text, isOwn: false };
    return { text, isOwn: isMarkOf(mark, text, this.#key) };
  };
}

/** Undefined if there is no key, or if other users could have read or written it. */
function readKey(file: string): Buffer | undefined {
  try {
    const { mode, uid } = statSync(file);
    const isShared = process.platform !== "win32" && (mode & 0o077) !== 0;
    if (isShared || (process.getuid !== undefined && uid !== process.getuid())) return undefined;
    return readMarkKey(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function createKey(file: string): Buffer | undefined {
  try {
    const key = newMarkKey();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // An unusable key would stay unusable.
    if (readKey(file) === undefined) rmSync(file, { force: true });
    writeFileSync(file, key, { flag: "wx", mode: 0o600 });
    return readMarkKey(key);
  } catch {
    // Another command may have created it meanwhile.
    return readKey(file);
  }
}
