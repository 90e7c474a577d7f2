// What Postgres says when something is wrong, in two kinds: it cannot be reached, or it was given what it cannot keep.

/** The store cannot be reached or does not take writes just now. Nothing is known of the operation's outcome. */
export class StoreUnavailableError extends Error {
  constructor(cause: unknown) {
    super(`The task store (Postgres) cannot be reached: ${messageOf(cause)}`, { cause });
    this.name = "StoreUnavailableError";
  }
}

/** Text with a NUL character or half of a surrogate pair. */
export class UnstorableText extends Error {
  constructor(cause?: unknown) {
    super(
      "Postgres cannot keep text with a NUL character or half of a surrogate pair in a key, a tool's name, a principal or an id.",
      { cause },
    );
    this.name = "UnstorableText";
  }
}

/** Half a surrogate pair would be sent as U+FFFD, and two principals or ids could become one. */
export function isStorable(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}

export function storable(text: string): string {
  if (!isStorable(text)) throw new UnstorableText();
  return text;
}

export function explained(error: unknown): unknown {
  const state = sqlState(error);
  if (state === undefined) return new StoreUnavailableError(error);
  if (state === "22021" || state === "22P05") return new UnstorableText(error);
  // Half a pair is no JSON to Postgres.
  if (state === "22P02" && /json/.test(messageOf(error))) return new UnstorableText(error);
  return unavailable.some((start) => state.startsWith(start))
    ? new StoreUnavailableError(error)
    : error;
}

/** Broken connections, no room, shut down, starting or out of time, a broken disk, a replica that only reads, no such user or database. */
const unavailable = ["08", "53", "57", "58", "25006", "28", "3D"];

/** Two statements were in one another's way and this one gave way: nothing was written. */
export function gaveWay(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** Undefined: it does not come from the server but from the way to it. */
function sqlState(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && severity !== undefined ? code : undefined;
}

function messageOf(error: unknown): string {
  // Where a name has several addresses Node gives all failures at once, with no message of its own.
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
