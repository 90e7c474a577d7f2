// Tells promises from other values.

/** Whether the value can be awaited. Unlike `instanceof Promise`, this includes promises of other realms and libraries. */
export function isThenable<V>(value: V | PromiseLike<V>): value is PromiseLike<V> {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && "then" in value;
}
