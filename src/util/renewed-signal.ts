// A signal that aborts now and then, and is new each time. Its AbortController is made when somebody asks for the signal,
// because Workers refuse to make one while a module loads.

/** Ends what waits now. What waits later gets a new signal. */
export class RenewedSignal {
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller?.abort();
    this.#controller = undefined;
  }
}
