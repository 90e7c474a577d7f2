// A reference contains everything that another shell or machine needs to resume a call. Version 1 is
// `at1.<target, as JSON in base64url>.<the client's reference>`. It contains the arguments, the answers and the server's
// sealed state, but no headers and no tokens.

import { stateOf } from "../../client/reference.ts";
import type { CallState } from "../../client/reference.ts";
import { isObject } from "../../util/objects.ts";
import { UsageError } from "../command.ts";
import { withoutSecrets } from "../server/target.ts";
import type { Target } from "../server/target.ts";

/** A reference, read. */
export interface CallReference {
  /** Undefined if the reference does not name a server, as when a program made it. */
  readonly target: Target | undefined;
  /** The client's own reference. */
  readonly ref: string;
  /** The state of the call. */
  readonly state: CallState;
}

const version = "at1.";

/** A reference that names the server. */
export function referenceAt(target: Target, ref: string): string {
  const where = Buffer.from(JSON.stringify(withoutSecrets(target))).toString("base64url");
  return `${version}${where}.${ref}`;
}

/** Whether a text looks like a reference. */
export const isReference = (text: string): boolean =>
  text.startsWith(version) || text.startsWith("parley1.");

/** Reads a reference. Throws if it is not one, or not complete. */
export function readReference(text: string): CallReference {
  const [, where, ref = text] = /^at1\.([\w-]*)\.(.*)$/s.exec(text) ?? [];
  const state = stateIn(ref);
  if (where !== undefined) return { target: targetIn(where), ref, state };
  const isUrl = /^https?:/.test(state.target);
  return { target: isUrl ? { kind: "url", url: state.target } : undefined, ref, state };
}

const broken = "This is not a complete reference to a call. Copy all of it.";

function stateIn(ref: string): CallState {
  try {
    return stateOf(ref);
  } catch {
    throw new UsageError(broken);
  }
}

function targetIn(where: string): Target {
  try {
    const raw: unknown = JSON.parse(Buffer.from(where, "base64url").toString());
    if (isTarget(raw)) return raw;
  } catch {
    // The error below covers this case.
  }
  throw new UsageError(broken);
}

function isTarget(raw: unknown): raw is Target {
  if (!isObject(raw)) return false;
  const { kind, url, file, command, args, cwd } = raw;
  if (kind === "url") return typeof url === "string" && URL.canParse(url);
  if (typeof cwd !== "string") return false;
  if (kind === "file") return typeof file === "string";
  const isWords = Array.isArray(args) && args.every((arg) => typeof arg === "string");
  return kind === "command" && typeof command === "string" && isWords;
}

/** The beginning of the id, long enough to be unique in a folder. */
export const shortId = (state: CallState): string => state.id.slice(0, 8);
