// A Durable Object that keeps tasks in its storage and runs them. It gets operations of the store from Workers, and its
// alarm goes off when a task is due, so that nothing has to stay running.

import { ParleyError } from "../errors.ts";
import type { App } from "../server/app.ts";
import { auditOf } from "../server/audit/audit.ts";
import type { Core } from "../server/core.ts";
import { insideOf } from "../server/inside.ts";
import type { Inside } from "../server/inside.ts";
import { Work } from "../server/tasks/task-engine.ts";
import type { SqliteStore } from "../tasks/stores/sqlite/sqlite-store.ts";
import { isObject } from "../util/objects.ts";
import { rowsOf } from "./object-database.ts";
import { objectStore } from "./object-store.ts";
import { operations } from "./operations.ts";
import type { Answered, OperationName } from "./operations.ts";
import { DurableObject } from "./platform.ts";
import type { ObjectState } from "./platform.ts";

/** How long the tasks of one alarm may run. The platform ends the object's turn after 15 minutes. */
const budgetMs = 14 * 60_000;

/** A Durable Object that keeps tasks and runs them. */
export interface TaskObject {
  /** The mark of a Durable Object in the types of the platform. */
  readonly __DURABLE_OBJECT_BRAND: never;
  /** Runs what is due. The platform calls it. */
  alarm(): Promise<void>;
  /** What `durableObjectStore` calls. */
  parley(operation: string, args: readonly unknown[]): Promise<unknown>;
}

/** The tasks of one object, and what runs them. */
function workIn(state: ObjectState, { core, registrations }: Inside) {
  const { store, alarm } = objectStore(state, () => work.tools);
  const work: Work = new Work(
    store,
    coreOver(core, () => work),
    registrations,
  );
  return { store, alarm, work };
}

/** The app with the object's own storage as its store. Nothing that waits is shared with requests to a Worker. */
function coreOver(core: Core, work: () => Work): Core {
  const own: Core = Object.create(core, {
    tasks: { get: () => work().runtime },
    store: { get: () => work().store },
  });
  return Object.assign(
    own,
    auditOf(() => own, core.auditing),
  );
}

/**
 * Makes the class of a Durable Object that keeps the tasks of an app in its SQLite storage, and runs them. Export a class
 * that extends it, and name that class in `wrangler.jsonc`.
 *
 * @param app - The app, whose store is a `durableObjectStore`.
 * @example
 * ```ts
 * import { env } from "cloudflare:workers";
 * import { parley } from "mcp-parley";
 * import { durableObjectStore, taskObject } from "mcp-parley/durable-object";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: durableObjectStore(() => env.TASKS) });
 *
 * export class Tasks extends taskObject(app) {}
 * export default { fetch: app.fetch };
 * ```
 */
export function taskObject(app: App): new (state: ObjectState, env: unknown) => TaskObject {
  const parts = partsOf(app);
  class Tasks extends DurableObject {
    readonly #own: ReturnType<typeof workIn>;
    readonly #isEmpty: () => boolean;

    constructor(state: ObjectState, env: unknown) {
      super(state, env);
      this.#own = workIn(state, parts);
      this.#isEmpty = () => isEmpty(state);
    }

    async alarm(): Promise<void> {
      const { alarm, work } = this.#own;
      alarm.goesOff();
      // If this rejects, the platform calls again.
      await work.runDue({ budgetMs });
      alarm.reset();
    }

    async parley(operation: string, args: readonly unknown[]): Promise<Answered> {
      try {
        // An object that has never kept anything makes no tables because a client has made up an id that leads to it.
        if (nothing.has(operation) && this.#isEmpty()) return { value: nothing.get(operation) };
        return { value: await perform(this.#own.store, operation, args) };
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        return { refused: { code: error.code, message: error.message } };
      }
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the mark exists only in the types of the platform
  return Tasks as unknown as new (state: ObjectState, env: unknown) => TaskObject;
}

function partsOf(app: App): Inside {
  const parts = insideOf(app);
  if (parts !== undefined) return parts;
  throw new TypeError("taskObject(app): the argument is the app that parley() returned.");
}

/** What the operations find in an object that has never kept anything. */
const nothing: ReadonlyMap<string, unknown> = new Map<OperationName, unknown>([
  ["read", undefined],
  ["readLog", []],
  ["readParts", undefined],
  ["revisions", new Map()],
]);

const isEmpty = ({ storage }: ObjectState): boolean =>
  rowsOf(storage, "select 1 from sqlite_master where name = 'tasks'").length === 0;

function perform(store: SqliteStore, operation: string, args: readonly unknown[]): unknown {
  const known: readonly string[] = operations;
  if (!known.includes(operation)) throw new TypeError(`A task object cannot do "${operation}".`);
  const [name = "", member] = operation.split(".");
  const found: unknown = Reflect.get(store, name);
  const does: unknown = member !== undefined && isObject(found) ? found[member] : found;
  if (typeof does !== "function") throw new TypeError(`The store cannot do "${operation}".`);
  return Reflect.apply(does, store, args);
}
