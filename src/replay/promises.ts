// The promises that a handler gets from its `ctx`.

/**
 * What `ctx.ask`, `ctx.confirm`, `ctx.choose` and the other questions return. Await it to get the answer. It rejects with
 * `UnansweredError` if there is no answer.
 */
export interface Question<T> extends Promise<T> {
  /** The key that the question was asked under. */
  readonly key: string;
}

const ignore = () => {};

/**
 * A promise that cannot crash the process, because it and every promise chained to it have a rejection handler from the
 * start (R2). It is not a native promise: `await` of a native one does not call `then`, and `OperationPromise` depends on
 * that call.
 */
export class HandlerPromise<T> implements Promise<T> {
  readonly #promise: Promise<T>;

  constructor(promise: Promise<T>) {
    this.#promise = promise;
    promise.catch(ignore);
  }

  /** Resolves when this promise has settled either way. To wait for it does not count as awaiting (R10). */
  static async settled(promise: Promise<unknown>): Promise<void> {
    if (!(#promise in promise)) throw new TypeError("Not a promise of ctx.");
    await promise.#promise.catch(ignore);
  }

  get [Symbol.toStringTag](): string {
    return "Promise";
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return new HandlerPromise(this.#promise.then(onFulfilled, onRejected));
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return new HandlerPromise(Promise.resolve(this).finally(onFinally));
  }
}

/** The promise of a question or a step. It reports when it is awaited, because forgetting to is a mistake (R10). */
export class OperationPromise<T> extends HandlerPromise<T> implements Question<T> {
  readonly key: string;
  readonly #onAwaited: () => void;

  constructor(key: string, promise: Promise<T>, onAwaited: () => void) {
    super(promise);
    this.key = key;
    this.#onAwaited = onAwaited;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#onAwaited();
    return super.then(onFulfilled, onRejected);
  }
}

interface Pending {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A promise that its maker settles. */
export function pending(): Pending {
  let resolve: Pending["resolve"] | undefined;
  let reject: Pending["reject"] | undefined;
  const promise = new Promise<unknown>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  if (resolve === undefined || reject === undefined)
    throw new Error("A promise did not call its executor.");
  return { promise, resolve, reject };
}
