// The promises a handler gets from its ctx.

const ignore = () => {};

/**
 * A promise that cannot crash the process: it, and whatever is chained to it, carries a rejection handler
 * from the start (R2). Not a native promise, because `await` of a native one does not call `then`, and
 * `Question` has to know.
 */
export class Handed<T> implements Promise<T> {
  readonly #promise: Promise<T>;

  constructor(promise: Promise<T>) {
    this.#promise = promise;
    promise.catch(ignore);
  }

  get [Symbol.toStringTag](): string {
    return "Promise";
  }

  // oxlint-disable-next-line unicorn/no-thenable -- being awaited is what it is for
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return new Handed(this.#promise.then(onFulfilled, onRejected));
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return new Handed(Promise.resolve(this).finally(onFinally));
  }
}

/** Knows whether it is awaited: going on past a question nobody waits for is a mistake (R10). */
export class Question<T> extends Handed<T> {
  readonly key: string;
  readonly #onAwaited: () => void;

  constructor(key: string, promise: Promise<T>, onAwaited: () => void) {
    super(promise);
    this.key = key;
    this.#onAwaited = onAwaited;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- as above
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#onAwaited();
    return super.then(onFulfilled, onRejected);
  }
}
