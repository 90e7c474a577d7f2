// A server file, and what runs it.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Usage } from "../command.ts";

export interface Runnable {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

const javascript = [".js", ".mjs", ".cjs"];
const typescript = [".ts", ".mts", ".cts"];

export function isServerFile(target: string): boolean {
  return [...javascript, ...typescript].includes(extname(target)) && !/\s/.test(target);
}

/** With this Node; TypeScript through tsx where the project has it, else by Node itself where it can. */
export function commandFor(file: string): Runnable {
  const path = resolve(file);
  if (!existsSync(path)) throw new Usage(`There is no file ${file}.`);
  const command = process.execPath;
  if (javascript.includes(extname(path))) return { command, args: [path] };
  if (!typescript.includes(extname(path))) {
    throw new Usage(`${file} is no server file: it should end in .ts, .mts, .js or .mjs.`);
  }
  const tsx = tsxFrom(dirname(path)) ?? tsxFrom(process.cwd());
  if (tsx !== undefined) return { command, args: ["--import", tsx, path] };
  // False, or absent in a Node that has never heard of it.
  if (Reflect.get(process.features, "typescript")) return { command, args: [path] };
  throw new Usage(
    `${file} is TypeScript, which Node ${process.versions.node} does not run: npm install -D tsx, or use Node 22.18.`,
  );
}

function tsxFrom(folder: string): string | undefined {
  try {
    return pathToFileURL(createRequire(join(folder, "server.js")).resolve("tsx")).href;
  } catch {
    return undefined;
  }
}
