/** Not `instanceof Promise`: a promise of another realm, or of another library, is one too. */
export function isThenable<V>(value: V | PromiseLike<V>): value is PromiseLike<V> {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  return isObject && "then" in value;
}
