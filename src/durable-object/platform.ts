// The small part of Cloudflare's platform that the store uses. It is declared here, so that the package needs neither the
// types of the platform nor the platform itself: on Node, where people test their tools, there is neither.

/** The storage of a Durable Object that is based on SQLite. */
export interface ObjectStorage {
  /** Its database. */
  readonly sql: {
    /** Runs SQL. */
    exec(
      sql: string,
      ...values: (string | number | null)[]
    ): {
      /** The rows. */
      toArray(): Record<string, ArrayBuffer | string | number | null>[];
    };
  };
  /** Runs a callback in a transaction. */
  transactionSync<T>(operation: () => T): T;
  /** Sets the one alarm of the object. */
  setAlarm(at: number): Promise<void>;
  /** Removes the alarm. */
  deleteAlarm(): Promise<void>;
}

/** What a Durable Object is given when it is made. */
export interface ObjectState {
  /** Its storage. */
  readonly storage: ObjectStorage;
}

/** The binding of a Worker to the objects of a class. */
export interface Namespace {
  /** The id of the object with this name. */
  idFromName(name: string): unknown;
  /** The object with this id. */
  get(id: never): unknown;
}

interface Platform {
  readonly DurableObject?: new (state: ObjectState, env: unknown) => object;
  readonly waitUntil?: (promise: Promise<unknown>) => void;
}

// A bundler cannot follow this name. Most of them would fail on it.
const load = (name: string): Promise<Platform> => import(name);
const platform = await load("cloudflare:workers").catch((): Platform => ({}));

/** The class whose methods a Worker can call from outside the object. */
export const DurableObject: new (state: ObjectState, env: unknown) => object =
  platform.DurableObject ?? Object;

/** Lets work end that a request has begun, even if its client hangs up. Other requests may wait for the same work. */
export const lasting = <T>(work: Promise<T>): Promise<T> => {
  platform.waitUntil?.(work.catch(() => {}));
  return work;
};
