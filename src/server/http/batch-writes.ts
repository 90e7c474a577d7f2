// One kind of work for all that wait for it, one right after the other.
//
// A request goes through a lot of code, from the parser through the handler to the kernel's network. Served wholly, one
// after the other, they have the processor fetch all of that anew for each; responses of sixteen connections that are
// sent together take half of the time (bench/README.md). One that is alone waits for nobody.

import { AsyncResource } from "node:async_hooks";

/** `failed` hears of work that throws: those behind it are done all the same. */
export function backToBack<T>(
  work: (one: T) => void,
  failed: (one: T, error: unknown) => void,
): (one: T) => void {
  let waiting: T[] = [];
  // Of no request: what is done for one is not to be found under another.
  const context = new AsyncResource("parley.back-to-back");
  const doAll = () => {
    const all = waiting;
    waiting = [];
    for (const one of all) {
      try {
        work(one);
      } catch (error) {
        failed(one, error);
      }
    }
  };
  const soon = () => context.runInAsyncScope(doAll);
  return (one) => {
    if (waiting.push(one) === 1) immediate(soon);
  };
}

// As it is when this file is loaded: a test may put a fake one in its place later.
const { setImmediate: immediate } = globalThis;
