// Telling a promise from a value.

/** Not `instanceof Promise`, because a promise of another realm or another library counts as well. */
export function isThenable<V>(value: V | PromiseLike<V>): value is PromiseLike<V> {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && "then" in value;
}
