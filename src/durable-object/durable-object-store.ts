// The store of an app on Workers: every operation is a call of the Durable Object that keeps the task.

import { ParleyError } from "../errors.ts";
import type { ParleyErrorCode } from "../errors.ts";
import { workerStore } from "../server/worker-store.ts";
import type { Store, StoreFigures, TaskStore } from "../tasks/store.ts";
import { operations } from "./operations.ts";
import type { Answered, OperationName } from "./operations.ts";
import { lasting } from "./platform.ts";
import type { Namespace } from "./platform.ts";

/** The name of the object that keeps everything. */
const mainObject = "parley";

interface Stub {
  parley(operation: OperationName, args: readonly unknown[]): Promise<Answered>;
}

/** Calls an object. Every call gets the object anew, because a stub does not work any more after an error. */
async function ask(
  namespace: Namespace,
  operation: OperationName,
  args: readonly unknown[],
): Promise<unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the types of the platform are not here
  const stub = namespace.get(namespace.idFromName(mainObject) as never) as Stub;
  const answered = await lasting(stub.parley(operation, args));
  if ("value" in answered) return answered.value;
  const { code, message } = answered.refused;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the object has sent the code of such an error
  throw new ParleyError(code as ParleyErrorCode, message);
}

/**
 * Keeps tasks in Durable Objects of Cloudflare, which also run them: see `taskObject`.
 *
 * @param namespace - Returns the binding to the class that extends `taskObject(app)`. It is a function, because a binding
 *   cannot be used while the module loads.
 * @example
 * ```ts
 * import { env } from "cloudflare:workers";
 * import { parley } from "mcp-parley";
 * import { durableObjectStore } from "mcp-parley/durable-object";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: durableObjectStore(() => env.TASKS) });
 * ```
 */
export function durableObjectStore(namespace: () => Namespace): Store {
  if (typeof namespace !== "function") {
    throw new TypeError(
      "durableObjectStore(env.TASKS): a binding cannot be used while the module loads. Pass a function: durableObjectStore(() => env.TASKS).",
    );
  }
  return workerStore(storeOver((operation, args) => ask(namespace(), operation, args)));
}

type Ask = (operation: OperationName, args: readonly unknown[]) => Promise<unknown>;

const claims = ["append", "addParts", "publish", "park", "release", "report", "finish", "undo"];

const refused = () => Promise.reject(new Error("Only the Durable Object itself runs tasks."));

/** A store whose operations are calls. What only workers do is done in the object, so there is nothing to claim here. */
function storeOver(call: Ask): TaskStore {
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
