// Server files, and how to run them.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { UsageError } from "../command.ts";

/** A program and its arguments. */
export interface Runnable {
  readonly command: string;
  readonly args: string[];
}

const javascript = [".js", ".mjs", ".cjs"];
const typescript = [".ts", ".mts", ".cts"];

/** Whether a target looks like a server file. */
export function isServerFile(target: string): boolean {
  return [...javascript, ...typescript].includes(extname(target)) && !/\s/.test(target);
}

/** Runs a file with this Node: TypeScript through tsx if the project has it, or through Node itself if it can. */
export function commandFor(file: string): Runnable {
  const path = resolve(file);
  if (!existsSync(path)) throw new UsageError(`The file ${file} does not exist.`);
  const command = process.execPath;
  if (javascript.includes(extname(path))) return { command, args: [path] };
  if (!typescript.includes(extname(path))) {
    throw new UsageError(
      `${file} is not a server file. Its name must end in .ts, .mts, .js or .mjs.`,
    );
  }
  const tsx = tsxFrom(dirname(path)) ?? tsxFrom(process.cwd());
  if (tsx !== undefined) return { command, args: ["--import", tsx, path] };
  // False or, in an older Node, absent.
  if (Reflect.get(process.features, "typescript")) return { command, args: [path] };
  throw new UsageError(
    `${file} is TypeScript, which Node ${process.versions.node} does not run. Run npm install -D tsx, or use Node 22.18 or later.`,
  );
}

/** The same, with a module that is loaded before the file. */
export function loadingFirst({ command, args }: Runnable, module: string | undefined): Runnable {
  const file = args.at(-1);
  if (module === undefined || file === undefined) return { command, args };
  return { command, args: [...args.slice(0, -1), "--import", module, file] };
}

/** The console of the mcp-parley that a server file uses. Undefined if that has none. */
export function consoleFor(file: string): string | undefined {
  try {
    const found = createRequire(resolve(file)).resolve("mcp-parley/console");
    return existsSync(found) ? pathToFileURL(found).href : undefined;
  } catch {
    return undefined;
  }
}

function tsxFrom(folder: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(folder, "server.js")).resolve("tsx")).href;
  } catch {
    return undefined;
  }
}
