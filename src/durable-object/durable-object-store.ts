// The store of an app on Workers: every operation is a call of the Durable Object that keeps the task.

import { ParleyError } from "../errors.ts";
import type { ParleyErrorCode } from "../errors.ts";
import { workerStore } from "../server/worker-store.ts";
import type { Store, StoreFigures, TaskStore } from "../tasks/store.ts";
import { operations } from "./operations.ts";
import { mainObject, objectOf, objectOfCaller, objectOfId, placedId } from "./objects.ts";
import type { ObjectFor } from "./objects.ts";
import type { Answered, OperationName } from "./operations.ts";
import { lasting } from "./platform.ts";
import type { Namespace } from "./platform.ts";

/** The options of `durableObjectStore`. */
export interface DurableObjectStoreOptions {
  /**
   * The name of the object that keeps what belongs to this caller, such as one for each tenant. The principal is undefined for
   * callers without credentials. The same caller always has to get the same name. Ids of calls and tasks contain a digest of
   * it. Default: one object keeps everything.
   */
  readonly objectFor?: ((principal: string | undefined) => string) | undefined;
}

interface Stub {
  parley(operation: OperationName, args: readonly unknown[]): Promise<Answered>;
}

/** Calls an object. Every call gets the object anew, because a stub does not work any more after an error. */
async function ask(
  namespace: Namespace | undefined,
  object: string,
  operation: OperationName,
  args: readonly unknown[],
): Promise<unknown> {
  if (namespace === undefined) throw noBinding();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of the platform are not here
  const stub = namespace.get(namespace.idFromName(object) as never) as Stub;
  const answered = await lasting(stub.parley(operation, args));
  if ("value" in answered) return answered.value;
  const { code, message } = answered.refused;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object has sent the code of such an error
  throw new ParleyError(code as ParleyErrorCode, message);
}

/** It is a mistake in the configuration and not an outage, so the client is not told to try again. */
const noBinding = () =>
  new ParleyError(
    "no_store",
    "The binding of durableObjectStore is undefined. Name the class under durable_objects.bindings in wrangler.jsonc.",
  );

/**
 * Keeps tasks in Durable Objects of Cloudflare, which also run them: see `taskObject`.
 *
 * @param namespace - Returns the binding to the class that extends `taskObject(app)`. It is a function, because a binding
 *   cannot be used while the module loads.
 * @param options - Which object keeps what, if one is not enough.
 * @example
 * ```ts
 * import { env } from "cloudflare:workers";
 * import { parley } from "mcp-parley";
 * import { durableObjectStore } from "mcp-parley/durable-object";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: durableObjectStore(() => env.TASKS) });
 * ```
 */
export function durableObjectStore(
  namespace: () => Namespace,
  { objectFor }: DurableObjectStoreOptions = {},
): Store {
  if (typeof namespace !== "function") {
    throw new TypeError(
      "durableObjectStore(env.TASKS): a binding cannot be used while the module loads. Pass a function: durableObjectStore(() => env.TASKS).",
    );
  }
  if (objectFor !== undefined && typeof objectFor !== "function") {
    throw new TypeError(
      "durableObjectStore(namespace, { objectFor }): objectFor is a function from a principal to the name of an object.",
    );
  }
  const call: Ask = (object, operation, args) => ask(namespace(), object, operation, args);
  const one = storeOver((operation, args) => call(mainObject, operation, args));
  return workerStore(objectFor === undefined ? one : storeOfMany(objectFor, call));
}

type Ask = (object: string, operation: OperationName, args: readonly unknown[]) => Promise<unknown>;

/** A store over several objects. They are not known, so nothing can be listed that is in all of them. */
function storeOfMany(objectFor: ObjectFor, call: Ask): TaskStore {
  const store = storeOver(async (operation, args) =>
    call(objectOf(objectFor, operation, args), operation, args),
  );
  const own: Partial<TaskStore> = {
    idFor: (id, principal) => placedId(objectFor, id, principal),
    reader: undefined,
    audit: store.audit && { ...store.audit, readAfter: notListed },
    noteRead: async (ids) => {
      const all = [...byObject(ids)];
      await Promise.all(all.map(([object, some]) => call(object, "noteRead", [some])));
    },
    revisions: async (ids, principal) => {
      // A client names any ids it likes, and must not wake objects of other callers with them.
      const known = principal === undefined ? undefined : objectOfCaller(objectFor, principal);
      const isTheirs = ([object]: readonly [string, unknown]) =>
        known === undefined || object === known || object === mainObject;
      const all = [...byObject(ids)].filter(isTheirs);
      const revisionsIn = async ([object, some]: readonly [string, readonly string[]]) =>
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object has the same operation
        (await call(object, "revisions", [some, principal])) as ReadonlyMap<string, number>;
      const found = await Promise.all(all.map(revisionsIn));
      return new Map(found.flatMap((map) => [...map]));
    },
  };
  return { ...store, ...own };
}

const notListed = () =>
  Promise.reject(
    new Error("With objectFor, the audit of all objects cannot be listed. Read it call by call."),
  );

function byObject(ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  for (const id of ids) {
    const object = objectOfId(id);
    all.set(object, [...(all.get(object) ?? []), id]);
  }
  return all;
}

type Call = (operation: OperationName, args: readonly unknown[]) => Promise<unknown>;

const claims = ["append", "addParts", "publish", "park", "release", "report", "finish", "undo"];

const refused = () => Promise.reject(new Error("Only the Durable Object itself runs tasks."));

/** A store whose operations are calls. What only workers do is done in the object, so there is nothing to claim here. */
function storeOver(call: Call): TaskStore {
  const nothing = { expired: 0, removed: 0, forgotten: 0, spills: 0, rounds: 0, isMore: false };
  const members: Record<string, unknown> = Object.fromEntries(
    claims.map((name) => [name, refused]),
  );
  for (const operation of operations) {
    const [name = "", member] = operation.split(".");
    const does = (...args: readonly unknown[]) => call(operation, args);
    if (member === undefined) members[name] = does;
    else members[name] = { ...Object(members[name]), [member]: does };
  }
  const own: Partial<TaskStore> = {
    "~store": "durable-object",
    leaseMs: 10_000,
    isPerRequest: true,
    // The object brings its tables up to date itself.
    migrate: async () => {},
    close: async () => {},
    subscribe: () => () => {},
    claim: async () => ({ claimed: [], nextDueAt: undefined, now: Date.now() }),
    renew: async () => ({ held: [], now: Date.now() }),
    leave: async () => {},
    sweep: async () => nothing,
    // The alarm wakes the object whenever there is work, so a worker is always there.
    figures: async () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object has the same operation
      const figures = (await call("figures", [])) as StoreFigures;
      return { ...figures, workerSeenAt: figures.now };
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `operations`, `claims` and `own` name all members
  return { ...members, ...own } as unknown as TaskStore;
}
