// Programs of this repository that tests start as processes: bundled or compiled during a run of the tests, and through
// tsx otherwise, as in `npm run crash-points`.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { askRun, bundledPrograms, isInRun } from "./run/shared.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const compiled = isInRun() ? await askRun<string>("compiled") : undefined;

/** The arguments that make `node` run a program. The program is named by its path from the root of the repository, its
 * whole path or its URL. */
export function program(file: string | URL): readonly string[] {
  const path = pathOf(file);
  return compiled === undefined
    ? ["--import", import.meta.resolve("tsx"), join(root, path)]
    : [scriptOf(path)];
}

/** The file that was bundled or compiled, for a test that passes it on. It exists only during a run. */
export function scriptOf(file: string | URL): string {
  if (compiled === undefined) throw new Error("Nothing is compiled outside a run of the tests.");
  const script = pathOf(file).replace(/\.ts$/, ".js");
  const bundled = join(compiled, bundledPrograms, script);
  return existsSync(bundled) ? bundled : join(compiled, script);
}

function pathOf(file: string | URL): string {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  return isAbsolute(path) ? relative(root, path) : path;
}

/**
 * For `--import`, in a process whose standard input or fourth pipe leads to this one. That process ends when this one
 * does, even by `kill -9`.
 */
export const leash: { readonly stdin: string; readonly fourth: string } = {
  stdin: "data:text/javascript,process.stdin.on('end',()=>process.exit(1)).resume().unref()",
  fourth:
    "data:text/javascript," +
    encodeURIComponent(
      `import { Socket } from "node:net";
       const end = () => process.exit(1);
       new Socket({ fd: 3 }).on("end", end).on("error", end).resume().unref();`,
    ),
};

export interface Program {
  readonly pid: number;
  /** What it prints, line by line. */
  readonly lines: AsyncIterable<string>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** A program that ends with this process, even by `kill -9`. */
export function startProgram(file: string, env: Readonly<Record<string, string>> = {}): Program {
  const child = spawn(process.execPath, ["--import", leash.stdin, ...program(file)], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  return {
    pid: child.pid ?? 0,
    lines: createInterface({ input: child.stdout }),
    kill: (signal) => void child.kill(signal),
  };
}
