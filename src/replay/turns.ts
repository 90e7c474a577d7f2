// How to wait for the end of a turn on Node (R4). This is the only file of this folder that knows the runtime. The engine
// gets it through its carrier.

/** The two ways to wait for what the handler is doing. */
export interface Turns {
  /** Calls back when all pending microtasks and nextTicks have run, with those that they cause. */
  readonly full: (callback: () => void) => void;
  /**
   * Calls back when all pending microtasks have run, and nextTicks two levels deep. That is enough when nothing else could
   * be delivered, and a hundred times cheaper while other work fills the event loop.
   */
  readonly brief: (callback: () => void) => void;
}

// Captured when this file is loaded, because a test may replace them with fake ones later.
const { setImmediate: immediate } = globalThis;
const nextTick = process.nextTick.bind(process);

// Node makes an object with an async context for each `queueMicrotask`. A reaction of a promise costs a third of that.
const settled = Promise.resolve();
// oxlint-disable-next-line promise/no-callback-in-promise -- it is a turn, not the end of work
const microtask = (callback: () => void): void => void settled.then(callback);

/** Turns on Node's event loop. */
export const nodeTurns: Turns = {
  // setTimeout(0) would wait a millisecond, and its order relative to setImmediate is undefined.
  full: (callback) => void immediate(callback),
  brief: (callback) => {
    // Scheduled from inside a microtask, a nextTick runs when the microtask queue is empty; from outside, before that.
    microtask(() => {
      nextTick(() => {
        microtask(() => nextTick(callback));
      });
    });
  },
};
