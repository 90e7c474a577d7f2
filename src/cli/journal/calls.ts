// The journal of unfinished calls: the newest reference of each, in memory and in a folder.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorText } from "../../util/error-text.ts";
import { folderJournal } from "../../client/journal.ts";
import type { ClientJournal } from "../../client/index.ts";
import { lockCall, unlockCall } from "./lock.ts";
import type { OwnMark, Unmarked } from "./own-mark.ts";
import { readReference, referenceAt, shortId } from "./reference.ts";
import type { CallReference } from "./reference.ts";
import { UsageError } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import type { Target } from "../server/target.ts";

/** Where calls are kept by default, in the current folder. */
export const defaultFolder: string = join(".parley", "calls");

/** The call could not be kept, so nothing was sent. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}

/** The journal of one command. */
export class Calls implements ClientJournal {
  readonly #target: Target;
  readonly #folder: ClientJournal | undefined;
  readonly #path: string;
  readonly #warn: (text: string) => void;
  readonly #own: OwnMark;
  #last: string | undefined;
  #isKept = false;
  #hasFailed = false;
  /** The call that is locked, so that no other process continues it meanwhile. */
  #held: string | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  /** Without a folder, calls are kept in memory only. */
  constructor(
    target: Target,
    folder: string | undefined,
    warn: (text: string) => void,
    own: OwnMark,
  ) {
    this.#target = target;
    this.#path = folder ?? "";
    this.#folder = folder === undefined ? undefined : folderJournal(folder);
    this.#warn = warn;
    this.#own = own;
  }

  /** The newest reference, whether it is on disk or not. */
  get last(): string | undefined {
    return this.#last;
  }

  /** The arguments for `parley resume` that find the call. Undefined if the folder does not have the newest state. */
  get kept(): string | undefined {
    if (!this.#isKept || this.#hasFailed || this.#last === undefined) return undefined;
    const id = shortId(readReference(this.#last).state);
    return this.#path === defaultFolder ? id : `${id} --journal ${this.#path}`;
  }

  /** Resolves when pending writes are done, or have failed. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  readonly put = (id: string, ref: string): Promise<void> => {
    const writing = this.#put(id, ref);
    this.#writing = writing;
    return writing;
  };

  async #put(id: string, ref: string): Promise<void> {
    this.#last = referenceAt(this.#target, ref);
    if (this.#folder === undefined) return;
    try {
      hide(this.#path);
      this.#lockCall(id);
      await this.#folder.put(id, this.#own.mark(this.#last));
      this.#isKept = true;
      this.#hasFailed = false;
    } catch (error) {
      if (error instanceof JournalError) throw error;
      if (!this.#isKept && !this.#hasFailed) throw this.#nowhere(error);
      if (!this.#hasFailed) {
        this.#warn(
          `The call can no longer be saved in ${this.#path} (${reason(error)}). It continues without being saved.`,
        );
      }
      this.#hasFailed = true;
    }
  }

  #lockCall(id: string): void {
    if (this.#held === id) return;
    mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    const holder = lockCall(this.#path, id);
    if (holder !== undefined) {
      throw new JournalError(
        `Process ${holder} is running this call now, so nothing was sent. Stop that process, or let it finish.`,
      );
    }
    this.#held = id;
  }

  /** Unlocks the call for other processes. */
  letGo(): void {
    if (this.#held !== undefined) unlockCall(this.#path, this.#held);
    this.#held = undefined;
  }

  readonly delete = async (id: string): Promise<void> => {
    this.#last = undefined;
    await this.#folder?.delete(id).catch(() => {});
    this.letGo();
  };

  readonly list = async (): Promise<readonly string[]> => (await this.#folder?.list()) ?? [];

  #nowhere(error: unknown): JournalError {
    const advice = "Choose another folder with --journal, or pass --no-journal.";
    return new JournalError(
      `The call cannot be saved in ${this.#path} (${reason(error)}), so nothing was sent. ${advice}`,
    );
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC") return "the disk is full";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "permission denied";
  return errorText(error);
}

/** Keeps `.parley` out of git, because its files are secret. */
function hide(folder: string): void {
  const parent = dirname(folder);
  const file = join(parent, ".gitignore");
  if (!folder.endsWith(defaultFolder) || existsSync(file)) return;
  mkdirSync(parent, { recursive: true });
  writeFileSync(file, "*\n", { flag: "wx" });
}

/** A call in the journal. */
export interface Kept extends CallReference, Unmarked {}

/** The unfinished calls, oldest first. Files of another version cannot be read and are skipped. */
export async function unfinished(folder: string, own: OwnMark): Promise<readonly Kept[]> {
  const kept: Kept[] = [];
  for (const marked of await folderJournal(folder).list()) {
    const { text, isOwn } = own.unmark(marked);
    try {
      kept.push({ ...readReference(text), text, isOwn });
    } catch {
      continue;
    }
  }
  return kept.toSorted((a, b) => a.state.since - b.state.since);
}

/** Finds a call by its id, or by the beginning of it if that is unique. `advice` says what to do if there is none. */
export async function findCall(
  folder: string,
  id: string,
  own: OwnMark,
  advice = "Run parley resume to list them.",
): Promise<Kept> {
  if (!/^[\da-f-]{3,36}$/.test(id)) {
    throw new UsageError(`"${plainLine(id, 40)}" is not the id or the reference of a call.`);
  }
  const calls = await unfinished(folder, own);
  const found = calls.filter(({ state }) => state.id.startsWith(id));
  const [only, ...others] = found;
  if (only === undefined) {
    throw new UsageError(`No unfinished call ${id} in ${folder}. ${advice}`);
  }
  if (others.length > 0) {
    const ids = found.map(({ state }) => shortId(state)).join(", ");
    throw new UsageError(`${id} matches several calls: ${ids}.`);
  }
  return only;
}

/** Removes the calls that became this task. */
export async function forgetTask(folder: string, taskId: string, own: OwnMark): Promise<void> {
  for (const { state } of await unfinished(folder, own)) {
    if (state.taskId === taskId) await forget(folder, state.id);
  }
}

/** Removes a call from the journal. */
export async function forget(folder: string, id: string): Promise<void> {
  await folderJournal(folder).delete(id);
}
