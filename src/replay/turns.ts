// The two waits of R4 on Node. The only file of this folder that knows the runtime; the engine gets it
// through its hooks.

export interface Turns {
  /** Calls back when every microtask and nextTick that is under way has run. */
  readonly full: (callback: () => void) => void;
  /**
   * The same for microtasks, and for nextTicks two deep: enough where nothing else could be delivered, and
   * a hundred times cheaper when other work fills the event loop.
   */
  readonly brief: (callback: () => void) => void;
}

// As they are when this file is loaded: a test may put fake ones in their place later.
const { setImmediate: immediate, queueMicrotask: microtask } = globalThis;
const nextTick = process.nextTick.bind(process);

export const nodeTurns: Turns = {
  // Not setTimeout(0): it waits a millisecond, and its order against setImmediate is not defined.
  full: (callback) => void immediate(callback),
  brief: (callback) => {
    // From inside a microtask, a nextTick runs when the queue of microtasks is empty; from outside, before it.
    microtask(() => {
      nextTick(() => {
        microtask(() => nextTick(callback));
      });
    });
  },
};
