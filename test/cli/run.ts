// Runs the command with pipes for its input and output, as a script does.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { memoryStore } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { onTestFinished } from "vitest";
import { dispatch } from "../../src/cli/dispatch.ts";
import { keys, quiet } from "../interop/errands.ts";
import { desk } from "./desk.ts";
import { leash } from "../programs.ts";
import { config, installed, main, tsconfig } from "./where.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly stdin?: string;
}

export function start(args: readonly string[], { cwd, env = {} }: RunOptions) {
  const child = spawn(process.execPath, ["--import", leash.fourth, main, ...args], {
    cwd,
    env: {
      ...process.env,
      ...installed,
      TSX_TSCONFIG_PATH: tsconfig,
      XDG_CONFIG_HOME: config,
      ...env,
    },
    // The fourth pipe ends the process when this one ends.
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** The command as a process of its own. Most tests need only `parley`, which takes a fraction of the time. */
export async function parleyProcess(args: readonly string[], options: RunOptions): Promise<Ran> {
  const child = start(args, options);
  child.stdin.end(options.stdin ?? "");
  const ended = new Promise<number>((resolve) => {
    child.once("close", (code) => resolve(code ?? -1));
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

let isRunning = false;

/** The command in this process, from its words to its exit code. One at a time, because each has its own folder. */
export async function parley(
  args: readonly string[],
  { cwd, env = {} }: Omit<RunOptions, "stdin">,
): Promise<Ran> {
  if (isRunning) throw new Error("Another command runs in this process. Use parleyProcess.");
  const before = process.cwd();
  isRunning = true;
  process.chdir(cwd);
  let stdout = "";
  let stderr = "";
  try {
    const { code } = await dispatch(args, {
      out: (printed) => void (stdout += printed),
      err: (printed) => void (stderr += printed),
      isInteractive: false,
      env: {
        ...process.env,
        ...installed,
        TSX_TSCONFIG_PATH: tsconfig,
        XDG_CONFIG_HOME: config,
        ...env,
      },
    });
    return { code, stdout, stderr };
  } finally {
    process.chdir(before);
    isRunning = false;
  }
}

/** An empty folder that is removed after the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Serves the desk in this process, so that no other process has to start. */
export async function deskUrl(options: Partial<ParleyOptions> = {}): Promise<string> {
  const app = desk({ keys, logger: quiet, store: memoryStore(), ...options });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  return url;
}

/** What `--json` has printed. */
export function read(stdout: string): Record<string, unknown> {
  const value: unknown = JSON.parse(stdout);
  if (typeof value !== "object" || value === null) throw new TypeError(`no object: ${stdout}`);
  return { ...value };
}
