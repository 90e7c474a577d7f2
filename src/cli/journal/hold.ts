// Whoever goes on with a call holds it: two shells would send the same round twice, and its later steps would run twice.
// A file beside the call says which process it is; where that is gone, by `kill -9` or with the machine, it says nothing.

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The process that holds the call; undefined where it is now this one. */
export function hold(folder: string, id: string): number | undefined {
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

export function letGo(folder: string, id: string): void {
  const file = fileOf(folder, id);
  if (holderIn(file) === process.pid) rmSync(file, { force: true });
}

const fileOf = (folder: string, id: string) => join(folder, `${id}.held`);

/** Undefined: nobody who is still there. */
function holderIn(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    const bootedAt = Date.now() - uptime() * 1_000;
    // From before the machine was started, its number is somebody else's now.
    if (pid <= 0 || statSync(file).mtimeMs < bootedAt) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}
