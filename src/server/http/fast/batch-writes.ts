// Does one kind of work for everything that waits for it, back to back.
//
// A request passes through a lot of code, from the parser through the handler to the kernel's network stack. If requests
// are served completely one after the other, the processor fetches all of that code again for each. The responses of
// sixteen connections take half the time when they are sent together (bench/README.md). A response that is alone does
// not wait for others, and none waits for more than a few: when requests come in a burst, the first of them would otherwise
// wait until the last has been served.

import { AsyncResource } from "node:async_hooks";

/** `failed` gets what the work threw. The items behind it are still done. */
export function backToBack<T>(
  work: (item: T) => void,
  failed: (item: T, error: unknown) => void,
): (item: T) => void {
  let waiting: T[] = [];
  // The work belongs to no request: its async context must not be that of the first item.
  const context = new AsyncResource("parley.back-to-back");
  const doAll = () => {
    const all = waiting;
    waiting = [];
    for (const item of all) {
      try {
        work(item);
      } catch (error) {
        failed(item, error);
      }
    }
  };
  const soon = () => context.runInAsyncScope(doAll);
  return (item) => {
    const count = waiting.push(item);
    if (count === most) soon();
    else if (count === 1) immediate(soon);
  };
}

/** With twice as many, the work is hardly faster, and everyone waits twice as long. */
const most = 16;

// Taken when this file is loaded, because a test may install a fake one later.
const { setImmediate: immediate } = globalThis;
