// A value that is made when it is first needed. Making an app must cost nothing and touch nothing, because on some
// platforms a module may neither read files nor make timers or random values while it loads.

/** Makes the value once, at the first call. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
