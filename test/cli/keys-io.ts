// Runs a command in this process, and records what it prints.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { onTestFinished } from "vitest";
import type { Command, Io } from "../../src/cli/command.ts";
import { installed } from "./where.ts";

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function run(
  command: Command,
  args: readonly string[],
  env: Io["env"] = {},
): Promise<Said> {
  const said = { out: "", err: "" };
  const io: Io = {
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    isInteractive: false,
    env: { ...installed, ...env },
  };
  const code = (await command.run(args, io)) ?? 0;
  return { code, ...said };
}

/** A folder without a development key. */
export function inEmptyFolder(): string {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), "parley-empty-"));
  process.chdir(folder);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
