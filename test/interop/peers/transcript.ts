// A run with a peer, as it is kept: what was done, how it ended, and every message in the order in which it passed.

import { readdirSync, readFileSync } from "node:fs";
import type { Errand, Outcome } from "./peer-errands.ts";

/** One thing that passed. Requests are numbered, and everything that belongs to a request has its number. */
export type Passed =
  | {
      readonly request: number;
      readonly http: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly message?: unknown;
    }
  | {
      readonly response: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly message?: unknown;
    }
  | { readonly event: number; readonly message: unknown }
  | { readonly end: number; readonly by: "server" | "client" };

/** Who called whom: their client our server, our `connect` their server, or the official client with `withTasks`. */
export type Direction = "to-parley" | "connect" | "with-tasks";

/**
 * "works": it ended as it has to. "earlier": likewise, but on 2025-11-25, which is all the peer speaks. "in the request":
 * likewise, but without a task, because this client has none. "polled": likewise, but the peer pushes nothing. "whole":
 * likewise, but without parts. "no tasks", "no push": the peer does not have them. "fails": it ended otherwise.
 */
export type Verdict =
  | "works"
  | "earlier"
  | "in the request"
  | "polled"
  | "whole"
  | "no tasks"
  | "no push"
  | "fails";

export interface Transcript {
  readonly notice: string;
  readonly peer: string;
  readonly version: string;
  readonly direction: Direction;
  readonly capability: string;
  readonly errand: Errand;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
  readonly passed: readonly Passed[];
}

const lenient = "-lenient";

/** The name of a task's run with a server that has `lenientTaskRouting`. */
export const lenientOf = (capability: string) => `${capability}${lenient}`;
export const isLenient = (capability: string) => capability.endsWith(lenient);

const folder = new URL("../transcripts/", import.meta.url);

export const folderOf = (peer: string): URL => new URL(`${peer}/`, folder);

export function fileOf({
  peer,
  direction,
  capability,
}: Pick<Transcript, "peer" | "direction" | "capability">): URL {
  return new URL(`${direction}.${capability}.json`, folderOf(peer));
}

/** One line for each thing that passed, so that a difference is easy to read. */
export function written({ passed, ...rest }: Transcript): string {
  const head = JSON.stringify(rest, undefined, 2).slice(0, -2);
  const lines = passed.map((one) => `    ${JSON.stringify(one)}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
  return `${head},\n  "passed": ${list}\n}\n`;
}

/** All transcripts that are kept, in the order of their names. */
export function transcripts(): Transcript[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name): Transcript => JSON.parse(readFileSync(new URL(name, folder), "utf8")));
}
