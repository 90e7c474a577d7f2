/**
 * The SQL of all migrations, for operators who apply it themselves to a new file. It notes what it did, so that the store
 * finds it done.
 */
export declare function migrationSql(): string;

/**
 * Keeps tasks in a SQLite file, which several processes on one machine may share. The file is opened when it is first
 * needed. If the file or its folder does not exist, it is created, readable by this user only.
 *
 * Needs Node 22.13 or later, or the package `libsql`.
 *
 * @param path - The path of the file. Default: `.parley/parley.db` in the working directory.
 * @param options - See `SqliteStoreOptions`.
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 * import { sqliteStore } from "mcp-parley/sqlite";
 *
 * const app = parley({ name: "kitchen", version: "1.0.0", store: sqliteStore("data/tasks.db") });
 * ```
 */
export declare function sqliteStore(path?: string, options?: SqliteStoreOptions): Store;

/** Options of `sqliteStore`. */
export declare interface SqliteStoreOptions {
    /** How long a worker holds a task without renewing its lease, in milliseconds. Default: 10 seconds. */
    readonly leaseMs?: number | undefined;
}

/** A place to keep tasks, for `parley({ store })`. `sqliteStore`, `postgresStore` and `memoryStore` make one. */
export declare interface Store {
    /** The kind of store, such as "sqlite". Messages name it. */
    readonly "~store": string;
    /** Finishes what is under way and closes the store. */
    readonly close: () => Promise<void>;
}

export { }
