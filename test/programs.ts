// Programs of this repository that tests start as processes: from their compiled form in a run of the tests, and through
// tsx where there is no run, as in `npm run crash-points`.

import { spawn } from "node:child_process";
import { isAbsolute, join, relative } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { askRun, isInRun } from "./run/shared.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const compiled = isInRun() ? await askRun<string>("compiled") : undefined;

/** What `node` is given to run a program, by its path from the root of the repository, by its whole path or its URL. */
export function program(file: string | URL): readonly string[] {
  const path = pathOf(file);
  return compiled === undefined
    ? ["--import", import.meta.resolve("tsx"), join(root, path)]
    : [scriptOf(path)];
}

/** The compiled file, for a test that hands it on. Only in a run. */
export function scriptOf(file: string | URL): string {
  if (compiled === undefined) throw new Error("Nothing is compiled outside a run of the tests.");
  return join(compiled, pathOf(file).replace(/\.ts$/, ".js"));
}

function pathOf(file: string | URL): string {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  return isAbsolute(path) ? relative(root, path) : path;
}

/**
 * For `--import`, in a process that this one holds by its standard input or by a fourth pipe: it ends when this one does,
 * also by `kill -9`.
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

/** A program that ends with this process, however that ends. */
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
