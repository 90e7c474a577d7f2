// `parley worker` loads the file of an app to run its tasks. If the file also serves requests, the app starts a worker
// of its own, and the command has to end before that worker claims a task.

/** On `globalThis`, because the command has its own copy of this package. */
const key = Symbol.for("mcp-parley.onlyWorks");

/** From now on, an app that starts to serve calls `refuse` first. */
export function onlyWorks(refuse: () => never): void {
  Object.defineProperty(globalThis, key, { value: refuse, configurable: true });
}

/** An app is about to serve. Does nothing, except in `parley worker`. */
export function checkMayServe(): void {
  const refuse: unknown = Reflect.get(globalThis, key);
  if (typeof refuse === "function") refuse();
}
