// Observes processes from outside: through /proc if it exists, because small images have no `ps`, and through `ps` otherwise.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

const hasProc = existsSync("/proc/self/stat");

/** A zombie, which is dead but not yet reaped by its parent, does not count as alive. */
export function isAlive(pid: number): boolean {
  const seen = see(pid);
  return seen !== undefined && !seen.state.startsWith("Z");
}

export function commandOf(pid: number): string {
  return hasProc
    ? readIfThere(`/proc/${pid}/cmdline`).replaceAll("\0", " ")
    : ps(["-o", "command=", "-p", String(pid)]);
}

export function childrenOf(pid: number): number[] {
  return all()
    .filter(({ parent, state }) => parent === pid && !state.startsWith("Z"))
    .map((child) => child.pid);
}

export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

function see(pid: number): Seen | undefined {
  if (!hasProc) return all().find((seen) => seen.pid === pid);
  // "7 (name, which may hold anything) S 1 …"
  const [, state, parent] =
    /^.*\) (\S) (\d+)/s.exec(readIfThere(`/proc/${pid}/stat`)) ?? ([] as const);
  return state === undefined ? undefined : { pid, state, parent: Number(parent) };
}

function all(): Seen[] {
  if (hasProc) {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => see(Number(pid)) ?? []);
  }
  return ps(["-A", "-o", "pid=,ppid=,stat="])
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state = ""]) => ({ pid: Number(pid), parent: Number(parent), state }));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function ps(args: readonly string[]): string {
  return execFileSync("ps", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
