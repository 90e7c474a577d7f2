// Whether a store that failed may work again by itself. A process that starts during an outage waits for its end, but a
// mistake in the configuration does not go away.

/** True for an outage: the store cannot be reached, restarts, or is busy. False for anything else. */
export function isOutage(error: unknown): boolean {
  const causes = causesOf(error);
  // A wrong password and an unknown database are mistakes, although the store counts them as unavailable.
  if (causes.some(({ code }) => mistakes.some((state) => state.test(code)))) return false;
  return causes.some(({ name, code }) => name === "StoreUnavailableError" || passing.has(code));
}

/** SQL states of Postgres. */
const mistakes = [/^28\w{3}$/, /^3D\w{3}$/];

/** The codes of Node for a network that fails, and of SQLite for a file that another process holds. */
const passing = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "SQLITE_BUSY",
]);

interface Cause {
  readonly name: string;
  readonly code: string;
}

/** The error and what caused it, as far as it goes. */
function causesOf(error: unknown, depth = 0): Cause[] {
  if (!(error instanceof Error) || depth > mostCauses) return [];
  // For a host name with several addresses, Node reports all failures at once.
  const several: unknown[] = error instanceof AggregateError ? error.errors : [];
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const deeper = [error.cause, ...several].flatMap((cause) => causesOf(cause, depth + 1));
  return [{ name: error.name, code }, ...deeper];
}

const mostCauses = 5;
