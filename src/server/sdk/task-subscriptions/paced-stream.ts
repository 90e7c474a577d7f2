// A stream of text that goes at the pace of its reader. A writer asks for room before it makes the next piece, so a
// client that reads slowly, or not at all, keeps no more in memory than what it was sent last.

/** What is written ahead of the reader, in bytes. A single piece may be larger. */
const aheadBytes = 64 * 1024;

/** A stream of bytes and its writing end. */
export class PacedStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #eventually: (ms: number, callback: () => void) => () => void;
  readonly #stallMs: number;
  readonly #onGone: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The writers that wait for room. */
  #waiting: (() => void)[] = [];
  #callOffStall: (() => void) | undefined;

  /** `onGone` is called when the reader has gone, or has read nothing for `stallMs` while a writer waits for room. */
  constructor(
    eventually: (ms: number, callback: () => void) => () => void,
    stallMs: number,
    onGone: () => void,
  ) {
    this.#eventually = eventually;
    this.#stallMs = stallMs;
    this.#onGone = onGone;
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: aheadBytes });
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#letGo(),
        cancel: () => {
          this.#controller = undefined;
          this.#letGo();
          onGone();
        },
      },
      strategy,
    );
  }

  /** Whether the reader has caught up. */
  get hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  /** Resolves when the reader has caught up, or when the stream is over. */
  async room(): Promise<void> {
    while (this.#controller !== undefined && !this.hasRoom) {
      this.#callOffStall ??= this.#eventually(this.#stallMs, () => this.#breakOff());
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Writes without waiting. After the end it does nothing. */
  write(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  /** Ends the stream after what is written. */
  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
    this.#letGo();
  }

  /** Drops what is written, because the client does not read it. */
  #breakOff(): void {
    this.#controller?.error(new Error("The client has stopped reading."));
    this.#controller = undefined;
    this.#letGo();
    this.#onGone();
  }

  #letGo(): void {
    this.#callOffStall?.();
    this.#callOffStall = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
