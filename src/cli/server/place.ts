// Where the server is, as it is typed: a URL, a command, or a server file.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { Usage } from "../command.ts";
import { commandFor, isServerFile } from "./file.ts";
import type { Runnable } from "./file.ts";

/** Nothing secret is in it, but for what somebody has typed into a command. */
export type Place =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "file"; readonly file: string; readonly cwd: string }
  | {
      readonly kind: "command";
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string;
    };

/** `rest` is what came after `--`: a command, where there is any. */
export function placeFrom(target: string | undefined, rest: readonly string[]): Place {
  const [command, ...args] = rest;
  const cwd = process.cwd();
  if (command !== undefined) return { kind: "command", command, args, cwd };
  if (target === undefined) {
    throw new Usage("Which server? Give its URL, a server file, or a command after --.");
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
  const advice = "Commands go in quotes, or after --.";
  throw new Usage(`"${target}" is no URL and no server file (.ts, .mts, .js, .mjs). ${advice}`);
}

function checkedUrl(text: string): string {
  if (URL.canParse(text)) return text;
  throw new Usage(`${text} is no URL.`);
}

/** As a shell would, with quotes and nothing else. */
function words(text: string): string[] {
  const found = text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? "");
}

/** As it is written into a reference: without query and credentials, which may be secret. */
export function withoutSecrets(place: Place): Place {
  if (place.kind !== "url") return place;
  const { origin, pathname } = new URL(place.url);
  return { kind: "url", url: `${origin}${pathname}` };
}

export function nameOf(place: Place): string {
  switch (place.kind) {
    case "url":
      return place.url;
    case "file":
      return place.file;
    case "command":
      return [place.command, ...place.args].join(" ");
  }
}

/** How to run it; throws where this machine does not have it. */
export function runnable(
  place: Exclude<Place, { kind: "url" }>,
): Runnable & { readonly cwd: string } {
  const { cwd } = place;
  if (!existsSync(cwd)) {
    throw new Usage(`There is no folder ${cwd} on this machine. Name the server with --server.`);
  }
  if (place.kind === "command") return { command: place.command, args: [...place.args], cwd };
  return { ...commandFor(place.file), cwd };
}
