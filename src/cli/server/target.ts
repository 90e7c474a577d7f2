// Which server a command is for: a URL, a command, or a server file.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { UsageError } from "../command.ts";
import { commandFor, isServerFile } from "./server-file.ts";
import type { Runnable } from "./server-file.ts";

/** Which server to use. A command or a URL can contain secrets that a person typed. */
export type Target =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "file"; readonly file: string; readonly cwd: string }
  | {
      readonly kind: "command";
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
    };

/** Reads the target from a word, or from the command after `--`. */
export function parseTarget(target: string | undefined, rest: readonly string[]): Target {
  const [command, ...args] = rest;
  const cwd = process.cwd();
  if (command !== undefined) return { kind: "command", command, args, cwd };
  if (target === undefined) {
    throw new UsageError("No server was given. Pass a URL, a server file, or a command after --.");
  }
  if (/^https?:\/\//i.test(target)) return { kind: "url", url: checkedUrl(target) };
  if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/.test(target)) {
    return { kind: "url", url: checkedUrl(`http://${target}`) };
  }
  if (isServerFile(target)) {
    const file = resolve(target);
    commandFor(file);
    return { kind: "file", file, cwd };
  }
  const [first, ...others] = words(target);
  if (first !== undefined && others.length > 0) {
    return { kind: "command", command: first, args: others, cwd };
  }
  const advice = "Put a command in quotes, or after --.";
  throw new UsageError(
    `"${target}" is not a URL or a server file (.ts, .mts, .js, .mjs). ${advice}`,
  );
}

/** The target and the other words: the first word is the target, unless a command follows `--`. */
export function targetAndWords(
  given: readonly string[],
  rest: readonly string[],
): { readonly target: Target; readonly others: readonly string[] } {
  const [first, ...others] = given;
  return rest.length > 0
    ? { target: parseTarget(undefined, rest), others: given }
    : { target: parseTarget(first, rest), others };
}

function checkedUrl(text: string): string {
  if (URL.canParse(text)) return text;
  throw new UsageError(`"${text}" is not a valid URL.`);
}

/** Splits a command line at spaces, with quotes as in a shell and nothing else. */
function words(text: string): string[] {
  const found = text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}

/** The target as a reference keeps it: without query and credentials, which can be secret. */
export function withoutSecrets(target: Target): Target {
  if (target.kind !== "url") return target;
  const { origin, pathname } = new URL(target.url);
  return { kind: "url", url: `${origin}${pathname}` };
}

/** The target as a person would write it. */
export function nameOf(target: Target): string {
  switch (target.kind) {
    case "url":
      return target.url;
    case "file":
      return target.file;
    case "command":
      return [target.command, ...target.args].join(" ");
  }
}

/** The command that lists what a target offers, for a person who has not named anything of it. */
export function howToList(typed: string | undefined, command: readonly string[]): string {
  const target = command.length > 0 ? `-- ${command.join(" ")}` : (typed ?? "<target>");
  return `parley list ${/\s/.test(target) && command.length === 0 ? `"${target}"` : target}`;
}

/** How to start the server. Throws if this machine does not have it. */
export function runnable(
  target: Exclude<Target, { kind: "url" }>,
): Runnable & { readonly cwd: string } {
  const { cwd } = target;
  if (!existsSync(cwd)) {
    throw new UsageError(
      `The folder ${cwd} does not exist on this machine. Pass the server with --server.`,
    );
  }
  if (target.kind === "command") return { command: target.command, args: [...target.args], cwd };
  return { ...commandFor(target.file), cwd };
}
