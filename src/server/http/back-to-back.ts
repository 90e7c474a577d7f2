// One kind of work for all that wait for it, one right after the other.
//
// A request goes through a lot of code, from the parser through the handler to the kernel's network. Served wholly, one
// after the other, they have the processor fetch all of that anew for each; responses of sixteen connections that are
// sent together take half of the time (bench/README.md). Alone, a response leaves in the same turn of the event loop.

export function backToBack<T>(work: (one: T) => void): (one: T) => void {
  let waiting: T[] = [];
  const doAll = () => {
    const all = waiting;
    waiting = [];
    for (const one of all) work(one);
  };
  return (one) => {
    if (waiting.push(one) === 1) immediate(doAll);
  };
}

// As it is when this file is loaded: a test may put a fake one in its place later.
const { setImmediate: immediate } = globalThis;
