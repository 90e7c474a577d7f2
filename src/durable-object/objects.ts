// Which object keeps what, if callers have objects of their own. The ids of calls and tasks end with a tag of their object, so
// every request that knows an id finds the object: `tasks/get`, a ticket, an approver's page, the audit of a call. An id without
// a tag is from a time without `objectFor`, and leads to the main object.

import { digest } from "../token/canonical.ts";
import type { OperationName } from "./operations.ts";

/** The object that keeps everything, or what belongs to no caller. */
export const mainObject = "parley";

/** Says which object keeps what belongs to a caller: `DurableObjectStoreOptions.objectFor`. */
export type ObjectFor = (principal: string | undefined) => string;

const tagLength = 16;
const taggedId = /@([\w-]{16})/;

/** The tag of an object. Names are not readable in ids, because other services see ids in idempotency keys. */
function tagOf(objectFor: ObjectFor, principal: string): string {
  const name: unknown = objectFor(principal === "" ? undefined : principal);
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      `durableObjectStore: objectFor returns the name of an object, such as "tenant-7", but returned ${shown(name)}.`,
    );
  }
  return digest(name).slice(0, tagLength);
}

const shown = (value: unknown): string =>
  value === "" ? "an empty text" : value instanceof Promise ? "a promise" : String(value);

const named = (tag: string): string => `${mainObject}/${tag}`;

/** An id that leads to the object of its caller. */
export const placedId = (objectFor: ObjectFor, id: string, principal: string): string =>
  `${id}@${tagOf(objectFor, principal)}`;

/** The object of a caller. */
export const objectOfCaller = (objectFor: ObjectFor, principal: string): string =>
  named(tagOf(objectFor, principal));

/** The object that an id leads to. */
export function objectOfId(id: string): string {
  const [, tag] = taggedId.exec(id) ?? [];
  return tag === undefined ? mainObject : named(tag);
}

/** What an operation names first. */
type Named =
  | string
  | { readonly id?: string; readonly callId?: string; readonly principal?: string | undefined };

const ofCaller = new Set<OperationName>([
  "list",
  "usage",
  "countEnded",
  "removeEnded",
  "countSpilled",
  ...(["read", "put", "claim", "renew", "release", "remove"] as const).map(
    (name) => `accounts.${name}` as const,
  ),
]);
const ofAll = new Set<OperationName>(["workers", "figures"]);

/** The object that does an operation. */
export function objectOf(
  objectFor: ObjectFor,
  operation: OperationName,
  args: readonly unknown[],
): string {
  if (ofAll.has(operation)) return mainObject;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every other operation begins with one of these
  const first = args[0] as Named;
  if (ofCaller.has(operation)) {
    const principal = typeof first === "string" ? first : first.principal;
    // Without a caller, it is an operator who lists tasks.
    return principal === undefined ? mainObject : objectOfCaller(objectFor, principal);
  }
  return objectOfId(typeof first === "string" ? first : (first.id ?? first.callId ?? ""));
}
