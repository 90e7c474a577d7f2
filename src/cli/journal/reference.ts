// Where an unfinished call stands, and of which server it is: all that another shell or machine needs. Version 1 is
// `at1.<where, as JSON in base64url>.<the client's reference>`. Headers and tokens are never in it; the arguments, the
// answers and the server's sealed state are.

import { stateOf } from "../../client/reference.ts";
import type { CallState } from "../../client/reference.ts";
import { isObject } from "../../util/objects.ts";
import { Usage } from "../command.ts";
import { withoutSecrets } from "../server/place.ts";
import type { Place } from "../server/place.ts";

export interface CallReference {
  /** Undefined: it is not said where, as in a reference that a program made. */
  readonly place: Place | undefined;
  /** The client's own reference. */
  readonly ref: string;
  readonly state: CallState;
}

const version = "at1.";

export function referenceAt(place: Place, ref: string): string {
  const where = Buffer.from(JSON.stringify(withoutSecrets(place))).toString("base64url");
  return `${version}${where}.${ref}`;
}

export const isReference = (text: string): boolean =>
  text.startsWith(version) || text.startsWith("parley1.");

export function readReference(text: string): CallReference {
  const [, where, ref = text] = /^at1\.([\w-]*)\.(.*)$/s.exec(text) ?? [];
  const state = stateIn(ref);
  if (where !== undefined) return { place: placeIn(where), ref, state };
  const isUrl = /^https?:/.test(state.target);
  return { place: isUrl ? { kind: "url", url: state.target } : undefined, ref, state };
}

const broken = "That is no reference to a call, or not all of it. Pass on every letter.";

function stateIn(ref: string): CallState {
  try {
    return stateOf(ref);
  } catch {
    throw new Usage(broken);
  }
}

function placeIn(where: string): Place {
  try {
    const raw: unknown = JSON.parse(Buffer.from(where, "base64url").toString());
    if (isPlace(raw)) return raw;
  } catch {
    // Said below.
  }
  throw new Usage(broken);
}

function isPlace(raw: unknown): raw is Place {
  if (!isObject(raw)) return false;
  const { kind, url, file, command, args, cwd } = raw;
  if (kind === "url") return typeof url === "string" && URL.canParse(url);
  if (typeof cwd !== "string") return false;
  if (kind === "file") return typeof file === "string";
  const isWords = Array.isArray(args) && args.every((arg) => typeof arg === "string");
  return kind === "command" && typeof command === "string" && isWords;
}

/** Long enough to tell the calls of one folder apart. */
export const shortId = (state: CallState): string => state.id.slice(0, 8);
