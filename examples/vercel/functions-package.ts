// Stands in for the package @vercel/functions in this repository. Like the package, it finds the request's context where
// the platform puts it.

interface Platform {
  readonly get: () => { readonly waitUntil: (promise: Promise<unknown>) => void };
}

export function waitUntil(promise: Promise<unknown>): void {
  const scope: { readonly [key: symbol]: Platform | undefined } = globalThis;
  scope[Symbol.for("@vercel/request-context")]?.get().waitUntil(promise);
}
