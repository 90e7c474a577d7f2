// Starts a TypeScript file in a Node process of its own. The process ends with the one that started it (leash.ts).

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";

const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

export interface Child {
  readonly pid: number;
  /** The lines that it prints. */
  readonly lines: AsyncIterable<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

export function start(file: string, env: Record<string, string> = {}): Child {
  const leash = new URL("leash.ts", import.meta.url).href;
  const child = spawn(process.execPath, ["--import", "tsx", "--import", leash, file], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.add(child);
  child.on("exit", () => children.delete(child));
  return {
    pid: child.pid ?? 0,
    lines: createInterface({ input: child.stdout }),
    kill: (signal) => void child.kill(signal),
  };
}
