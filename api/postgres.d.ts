/**
 * The SQL of all migrations, for operators who apply it themselves. It is safe to run it again.
 *
 * @param schema - The schema for the tables, such as "parley".
 * @example
 * ```ts
 * import { migrationSql } from "mcp-parley/postgres";
 *
 * console.log(migrationSql("parley"));
 * ```
 */
export declare function migrationSql(schema: string): string;

/** A `pg.Pool`, or an object that works like one. */
export declare interface PostgresPool {
    /** Runs a statement on any connection of the pool. */
    query(statement: string | PostgresStatement, values?: unknown[]): Promise<PostgresResult>;
    /** Lends a connection, as `pg` does. */
    connect(): Promise<unknown>;
    /** Closes all connections. */
    end(): Promise<void>;
}

/** What a query returns. */
export declare interface PostgresResult {
    /** The rows. */
    rows: unknown[];
}

/** A statement with its values. */
export declare interface PostgresStatement {
    /** The name that the connection keeps the prepared statement under. Absent if it is not prepared. */
    name?: string;
    /** The SQL. */
    text: string;
    /** The values of `$1`, `$2` and so on. */
    values?: unknown[];
}

/**
 * Keeps tasks in Postgres, which any number of replicas may share. The tables are created in a schema of their own when
 * they are first needed.
 *
 * @param connection - A connection string, or a pool of your own. For a connection string, the store makes a pool of up
 * to ten connections with the package `pg`. A pool of your own stays open when the store is closed.
 * @param options - See `PostgresStoreOptions`.
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 * import { postgresStore } from "mcp-parley/postgres";
 *
 * const store = postgresStore("postgres://app@db.internal/app");
 * const app = parley({ name: "kitchen", version: "1.0.0", store });
 * ```
 */
export declare function postgresStore(connection: string | PostgresPool, options?: PostgresStoreOptions): Store;

/** Options of `postgresStore`. */
export declare interface PostgresStoreOptions {
    /** The schema that has the tables. Default: "parley". */
    readonly schema?: string | undefined;
    /** How long a worker holds a task without renewing its lease, in milliseconds. Default: 10 seconds. */
    readonly leaseMs?: number | undefined;
    /** Whether statements are prepared. Turn it off for a pooler that cannot keep prepared statements. Default: true. */
    readonly prepare?: boolean | undefined;
    /**
     * Whether this process listens for changes that others make, on a connection of its own (`LISTEN`). Turn it off for a
     * pooler in transaction mode, where nothing is heard. Polling, once a second, then finds everything. Default: true.
     */
    readonly listen?: boolean | undefined;
}

/** A place to keep tasks, for `parley({ store })`. `sqliteStore`, `postgresStore` and `memoryStore` make one. */
export declare interface Store {
    /** The kind of store, such as "sqlite". Messages name it. */
    readonly "~store": string;
    /** Finishes what is under way and closes the store. */
    readonly close: () => Promise<void>;
}

/**
 * Postgres cannot be reached, or takes no writes at the moment. The operation may or may not have been done, and another
 * try may succeed.
 */
export declare class StoreUnavailableError extends Error {
    /** @param cause - The error of the driver. */
    constructor(cause: unknown);
}

export { }
