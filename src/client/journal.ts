// The client's journal of unfinished calls: a folder with one file for each call. It is not the journal of a handler,
// which the engine keeps. A file is replaced as a whole and synced to the disk before anything depends on it, so a
// killed process never leaves half a file behind.

import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Where unfinished calls are kept. Pass your own to `connect({ journal })` to keep them in a database. A reference
 * contains arguments, answers and sealed state, so store it as a secret.
 */
export interface ClientJournal {
  /** Stores the reference of a call, in place of its previous one. Resolve when it is durable. */
  readonly put: (id: string, ref: string) => Promise<void>;
  /** Removes a call. It is not an error if the journal does not have it. */
  readonly delete: (id: string) => Promise<void>;
  /** Returns the references of all calls in the journal. */
  readonly list: () => Promise<readonly string[]>;
}

const suffix = ".call";
const draftSuffix = ".draft";

/** A journal in a folder, which is created when the first call is stored. */
export function folderJournal(folder: string): ClientJournal {
  const fileOf = (id: string) => join(folder, `${id}${suffix}`);
  let written = 0;

  async function put(id: string, ref: string): Promise<void> {
    // Each time, because the folder may be deleted, or may not have been writable before.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    written += 1;
    const draft = join(folder, `${id}.${process.pid}-${written}${draftSuffix}`);
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(ref);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, fileOf(id));
    await syncFolder(folder);
  }

  async function list(): Promise<readonly string[]> {
    const names = await readdir(folder).catch(noneIfMissing);
    const refs: string[] = [];
    for (const name of names.toSorted()) {
      if (name.endsWith(draftSuffix)) await removeStale(join(folder, name));
      if (!name.endsWith(suffix)) continue;
      // The call may have ended since the folder was read.
      const ref = await readFile(join(folder, name), "utf8").catch(() => undefined);
      if (ref !== undefined) refs.push(ref);
    }
    return refs;
  }

  return { put, list, delete: (id) => rm(fileOf(id), { force: true }) };
}

/** Makes the new file name durable as well. Windows does not support this and does not need it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what a killed process left half written. No write takes a minute, so an older draft is abandoned. */
async function removeStale(draft: string): Promise<void> {
  const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Infinity }));
  if (Date.now() - mtimeMs > 60_000) await rm(draft, { force: true });
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
