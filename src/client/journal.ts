// Where unfinished calls are kept: a folder with a file for each. A file is replaced as a whole, and on the disk before
// anybody waits, so that no kill leaves half of one.

import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

export interface ClientJournal {
  readonly put: (id: string, ref: string) => Promise<void>;
  readonly delete: (id: string) => Promise<void>;
  /** The references. */
  readonly list: () => Promise<readonly string[]>;
}

const suffix = ".call";
const draftSuffix = ".draft";

export function folderJournal(folder: string): ClientJournal {
  const fileOf = (id: string) => join(folder, `${id}${suffix}`);
  let made: Promise<unknown> | undefined;
  let written = 0;

  async function put(id: string, ref: string): Promise<void> {
    made ??= mkdir(folder, { recursive: true, mode: 0o700 });
    await made;
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
    await sync(folder);
  }

  async function list(): Promise<readonly string[]> {
    const names = await readdir(folder).catch(missing);
    const refs: string[] = [];
    for (const name of names.toSorted()) {
      if (name.endsWith(draftSuffix)) await sweep(join(folder, name));
      if (!name.endsWith(suffix)) continue;
      // It may have ended since.
      const ref = await readFile(join(folder, name), "utf8").catch(() => undefined);
      if (ref !== undefined) refs.push(ref);
    }
    return refs;
  }

  return { put, list, delete: (id) => rm(fileOf(id), { force: true }) };
}

/** The name is in the folder, and that has to be on the disk as well. Windows cannot, and need not. */
async function sync(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** What a kill has left half written. Nobody writes for so long. */
async function sweep(draft: string): Promise<void> {
  const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Infinity }));
  if (Date.now() - mtimeMs > 60_000) await rm(draft, { force: true });
}

function missing(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
