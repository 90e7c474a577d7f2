// Whether an author passed a function where one belongs.

/** For JavaScript authors. The SDK's older `tool(name, description, shape, handler)` would otherwise fail at the first call. */
export function checkHandler(call: string, handler: unknown): void {
  if (typeof handler === "function") return;
  throw new TypeError(
    `${call} takes a name, a config object and a function: (name, { … }, handler).`,
  );
}
