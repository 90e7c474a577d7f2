// Parley's own tools. They get the request itself, while an author's tool gets its arguments and `ctx`.

import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";

type ServeRequest = (core: Core, request: RoundRequest) => Promise<RoundResponse>;

const ownTools = new WeakMap<Definition, ServeRequest>();

/** Marks a definition as a tool of our own, and notes what serves it. */
export function ownTool(definition: Definition, serve: ServeRequest): Definition {
  const marked = { ...definition, isOwn: true };
  ownTools.set(marked, serve);
  return marked;
}

/** What serves a tool of our own. Undefined for the author's. */
export const servesItself = (definition: Definition): ServeRequest | undefined =>
  definition.isOwn === true ? ownTools.get(definition) : undefined;
