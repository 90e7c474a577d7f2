// Tells an error that was written for a reader from one that the language or the system threw. The text of the latter may
// hold paths, addresses, queries or secrets, and the author did not choose to show them.

const languageErrors = new Set([
  "TypeError",
  "ReferenceError",
  "RangeError",
  "SyntaxError",
  "URIError",
  "EvalError",
]);

/** Errors that stand for an unintended one, because JSON has kept only its text. */
const marked = new WeakSet<Error>();

/** Notes that this error repeats the text of an unintended one. */
export function markUnintended<E extends Error>(error: E): E {
  marked.add(error);
  return error;
}

/**
 * Whether the author did not choose the text of this error. The texts of a program's own classes count as chosen. It
 * never throws.
 */
export function isUnintended(error: unknown): error is Error {
  try {
    return error instanceof Error && (marked.has(error) || isOfTheSystem(error, 0));
  } catch {
    // A getter or a proxy threw, which no author chose.
    return true;
  }
}

function isOfTheSystem(error: object, depth: number): boolean {
  if ("errno" in error && "syscall" in error) return true;
  const { name, code, errors } = membersOf(error);
  if (name === "AssertionError" || code === "ERR_ASSERTION") return true;
  if (Array.isArray(errors) && depth < 8) {
    return errors.some((one) => Object(one) === one && isOfTheSystem(one, depth + 1));
  }
  // A subclass is a choice, even if it has not changed its name. Its name is compared, because a test runner may use
  // several realms.
  const { constructor } = error;
  return languageErrors.has(String(name)) && languageErrors.has(constructor.name);
}

function membersOf(error: object): { name?: unknown; code?: unknown; errors?: unknown } {
  return error;
}
