// Locks a call while a process runs it. Otherwise two shells could send the same round, and later steps would run twice.
// A file beside the call contains the id of the process. If that process no longer exists, the lock is void.

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Locks a call. Returns the id of another process that has it, or undefined if this process has it now. */
export function lockCall(folder: string, id: string): number | undefined {
  const file = fileOf(folder, id);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const holder = holderIn(file);
    if (holder === process.pid) return undefined;
    if (holder !== undefined) return holder;
    rmSync(file, { force: true });
  }
  return undefined;
}

/** Releases the lock, if this process has it. */
export function unlockCall(folder: string, id: string): void {
  const file = fileOf(folder, id);
  if (holderIn(file) === process.pid) rmSync(file, { force: true });
}

const fileOf = (folder: string, id: string) => join(folder, `${id}.held`);

/** The process that has the lock, if it still runs. */
function holderIn(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    const bootedAt = Date.now() - uptime() * 1_000;
    // After a restart of the machine, another process can have the same id.
    if (pid <= 0 || statSync(file).mtimeMs < bootedAt) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}
