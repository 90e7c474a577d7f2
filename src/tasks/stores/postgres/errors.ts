// Errors of Postgres, explained. There are two kinds: Postgres cannot be reached, or it cannot keep what it was given.

/**
 * Postgres cannot be reached, or takes no writes at the moment. The operation may or may not have been done, and another
 * try may succeed.
 */
export class StoreUnavailableError extends Error {
  /** @param cause - The error of the driver. */
  constructor(cause: unknown) {
    const advice = sqlState(cause) === "3D000" ? `. ${howToNameDatabase}` : "";
    super(`The task store (Postgres) cannot be reached: ${messageOf(cause)}${advice}`, { cause });
    this.name = "StoreUnavailableError";
  }
}

const howToNameDatabase = "Create it, or correct the name of the database in the address.";

/** Text that Postgres cannot keep. */
export class UnstorableTextError extends Error {
  constructor(cause?: unknown) {
    super(
      "Postgres cannot keep text with a NUL character or half of a surrogate pair in a key, a tool's name, a principal or an id.",
      { cause },
    );
    this.name = "UnstorableTextError";
  }
}

/** A pooler gives each transaction another connection, and prepared statements belong to one connection. */
class PooledStatementError extends Error {
  constructor(cause: unknown) {
    super(
      `Postgres refused a prepared statement: ${messageOf(cause)}. ` +
        "This happens behind a pooler such as PgBouncer in transaction mode. Pass postgresStore(url, { prepare: false }).",
      { cause },
    );
    this.name = "PooledStatementError";
  }
}

/** Whether Postgres can keep the text. Half of a surrogate pair would become U+FFFD, so that two ids could become one. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

/** Throws if the address cannot be used. `pg` takes one host, and says only "Invalid URL" if there are several. */
export function checkUrl(url: string): void {
  const [, hosts = ""] = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(url) ?? [];
  if (!hosts.includes(",")) return;
  throw new TypeError(
    `The address of Postgres names several hosts (${hosts}), and the driver pg connects to one. ` +
      "Pass an address that always leads to the primary, such as the one of your provider's or cluster's load balancer, or a pool of your own that chooses the host.",
  );
}

/** Throws if Postgres cannot keep the text. */
export function storable(text: string): string {
  if (!isStorable(text)) throw new UnstorableTextError();
  return text;
}

/** The error as one of ours, if it is of one of the two kinds. */
export function explained(error: unknown): unknown {
  const state = sqlState(error);
  if (state === undefined) return new StoreUnavailableError(error);
  if (state === "42P05" || state === "26000") return new PooledStatementError(error);
  if (state === "22021" || state === "22P05") return new UnstorableTextError(error);
  // To Postgres, text with half of a surrogate pair is not valid JSON.
  if (state === "22P02" && /json/.test(messageOf(error))) return new UnstorableTextError(error);
  return unavailable.some((start) => state.startsWith(start))
    ? new StoreUnavailableError(error)
    : error;
}

/**
 * SQL states: a broken connection (08), no resources (53), shutting down, starting or timed out (57), a system error (58),
 * a read-only replica (25006), an unknown user (28), an unknown database (3D).
 */
const unavailable = ["08", "53", "57", "58", "25006", "28", "3D"];

/** Whether the statement had to give way to another one. It has written nothing then. */
export function gaveWay(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** The SQL state. Undefined if the error comes from the connection and not from the server. */
function sqlState(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && severity !== undefined ? code : undefined;
}

function messageOf(error: unknown): string {
  // If a host name has several addresses, Node reports all failures at once, without a message of its own.
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
