// The calls of this command: where each stands, in memory and in a folder.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorText } from "../../util/error-text.ts";
import { folderJournal } from "../../client/journal.ts";
import type { ClientJournal } from "../../client/index.ts";
import { hold, letGo } from "./hold.ts";
import { readReference, referenceAt, shortId } from "./reference.ts";
import type { CallReference } from "./reference.ts";
import { Usage } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import type { Place } from "../server/place.ts";

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
  /** The call that nobody else may go on with meanwhile. */
  #held: string | undefined;
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
      this.#hold(id);
      await this.#folder.put(id, this.#last);
      this.#isKept = true;
      this.#hasFailed = false;
    } catch (error) {
      if (error instanceof JournalError) throw error;
      if (!this.#isKept && !this.#hasFailed) throw this.#nowhere(error);
      if (!this.#hasFailed) {
        this.#warn(`The call can no longer be kept in ${this.#path} (${reason(error)}); going on.`);
      }
      this.#hasFailed = true;
    }
  }

  #hold(id: string): void {
    if (this.#held === id) return;
    mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    const holder = hold(this.#path, id);
    if (holder !== undefined) {
      throw new JournalError(
        `Process ${holder} is going on with this call just now, so nothing was sent. End that one first, or let it finish.`,
      );
    }
    this.#held = id;
  }

  /** Others may go on with it. */
  letGo(): void {
    if (this.#held !== undefined) letGo(this.#path, this.#held);
    this.#held = undefined;
  }

  readonly delete = async (id: string): Promise<void> => {
    this.#last = undefined;
    await this.#folder?.delete(id).catch(() => {});
    this.letGo();
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
  return errorText(error);
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
  if (!/^[\da-f-]{3,36}$/.test(id)) {
    throw new Usage(`"${plainLine(id, 40)}" is neither the id nor the reference of a call.`);
  }
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

export async function forget(folder: string, id: string): Promise<void> {
  await folderJournal(folder).delete(id);
}
