// The calls of this command: where each stands, in memory and in a folder.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { textOf } from "../client/errors.ts";
import { folderJournal } from "../client/journal.ts";
import type { ClientJournal } from "../client/index.ts";
import { readReference, referenceAt, shortId } from "./call-reference.ts";
import type { CallReference } from "./call-reference.ts";
import { Usage } from "./command.ts";
import type { Place } from "./place.ts";

export const defaultFolder: string = join(".parley", "calls");

/** Nothing was sent: there was no place to keep it first. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}

export class Calls implements ClientJournal {
  readonly #place: Place;
  readonly #folder: ClientJournal | undefined;
  readonly #path: string;
  readonly #warn: (text: string) => void;
  #last: string | undefined;
  #isKept = false;
  #hasFailed = false;
  #writing: Promise<unknown> = Promise.resolve();

  /** `folder` undefined: in memory alone. */
  constructor(place: Place, folder: string | undefined, warn: (text: string) => void) {
    this.#place = place;
    this.#path = folder ?? "";
    this.#folder = folder === undefined ? undefined : folderJournal(folder);
    this.#warn = warn;
  }

  /** The newest reference, kept on disk or not. */
  get last(): string | undefined {
    return this.#last;
  }

  /** The words with which `parley resume` finds it; undefined where the folder has not the newest. */
  get kept(): string | undefined {
    if (!this.#isKept || this.#hasFailed || this.#last === undefined) return undefined;
    const id = shortId(readReference(this.#last).state);
    return this.#path === defaultFolder ? id : `${id} --journal ${this.#path}`;
  }

  /** What is being kept is so then, or has failed to be. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  readonly put = (id: string, ref: string): Promise<void> => {
    const writing = this.#put(id, ref);
    this.#writing = writing;
    return writing;
  };

  async #put(id: string, ref: string): Promise<void> {
    this.#last = referenceAt(this.#place, ref);
    if (this.#folder === undefined) return;
    try {
      hide(this.#path);
      await this.#folder.put(id, this.#last);
      this.#isKept = true;
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#isKept && !this.#hasFailed) throw this.#nowhere(error);
      if (!this.#hasFailed) {
        this.#warn(`The call can no longer be kept in ${this.#path} (${reason(error)}); going on.`);
      }
      this.#hasFailed = true;
    }
  }

  readonly delete = async (id: string): Promise<void> => {
    this.#last = undefined;
    await this.#folder?.delete(id).catch(() => {});
  };

  readonly list = async (): Promise<readonly string[]> => (await this.#folder?.list()) ?? [];

  #nowhere(error: unknown): JournalError {
    const advice = "Choose another folder with --journal, or go without: --no-journal.";
    return new JournalError(
      `The call cannot be kept in ${this.#path} (${reason(error)}), so nothing was sent. ${advice}`,
    );
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC") return "the disk is full";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "it may not be written";
  return textOf(error);
}

/** What is in `.parley` is for nobody else: not for git, either. */
function hide(folder: string): void {
  const parent = dirname(folder);
  const file = join(parent, ".gitignore");
  if (!folder.endsWith(defaultFolder) || existsSync(file)) return;
  mkdirSync(parent, { recursive: true });
  writeFileSync(file, "*\n", { flag: "wx" });
}

export interface Kept extends CallReference {
  readonly text: string;
}

/** Oldest first. What cannot be read is of another version, and left alone. */
export async function unfinished(folder: string): Promise<readonly Kept[]> {
  const kept: Kept[] = [];
  for (const text of await folderJournal(folder).list()) {
    try {
      kept.push({ ...readReference(text), text });
    } catch {
      continue;
    }
  }
  return kept.toSorted((a, b) => a.state.since - b.state.since);
}

/** By its short id, or as much of it as tells it apart. */
export async function findCall(folder: string, id: string): Promise<Kept> {
  const calls = await unfinished(folder);
  const found = calls.filter(({ state }) => state.id.startsWith(id));
  const [only, ...others] = found;
  if (only === undefined) {
    throw new Usage(
      `There is no unfinished call ${id} in ${folder}. parley resume lists those there are.`,
    );
  }
  if (others.length > 0) {
    const ids = found.map(({ state }) => shortId(state)).join(", ");
    throw new Usage(`${id} could be any of ${ids}.`);
  }
  return only;
}
