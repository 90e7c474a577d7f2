// The bytes of a body while it arrives. A client decides how it divides its body, and every chunk that is kept takes
// hundreds of bytes, however small it is. So chunks are copied together as they arrive.

/** A body may come in this many chunks of any size. */
const freeChunks = 1_024;
/** Above that, its chunks must have this many bytes on average. */
export const fewestPerChunk = 256;

/** Whether a body comes in so many small chunks that reading it costs far more than sending it. */
export const isCrumbled = (chunks: number, bytes: number): boolean =>
  chunks > freeChunks + bytes / fewestPerChunk;

/** Collects the chunks of one body. */
export class CollectedBytes {
  /** The first chunk as it came, because most bodies have only one. After that, a buffer of our own that grows. */
  #bytes: Uint8Array | undefined;
  #length = 0;
  #chunks = 0;
  #isOurs = false;

  get length(): number {
    return this.#length;
  }

  /** How many bytes are held in memory for this body. */
  get held(): number {
    return this.#bytes?.length ?? 0;
  }

  get isCrumbled(): boolean {
    return isCrumbled(this.#chunks, this.#length);
  }

  add(chunk: Uint8Array): void {
    this.#chunks += 1;
    const length = this.#length + chunk.length;
    if (this.#bytes === undefined) {
      this.#bytes = chunk;
    } else {
      this.#makeRoom(this.#bytes, length).set(chunk, this.#length);
    }
    this.#length = length;
  }

  /** The text, without a byte order mark, as in the SDK. */
  text(): string {
    const bytes = this.bytes();
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8", start);
  }

  bytes(): Uint8Array {
    return this.#bytes?.subarray(0, this.#length) ?? nothing;
  }

  #makeRoom(bytes: Uint8Array, length: number): Uint8Array {
    if (this.#isOurs && length <= bytes.length) return bytes;
    const larger = new Uint8Array(Math.max(4_096, length * 2));
    larger.set(bytes.subarray(0, this.#length));
    this.#bytes = larger;
    this.#isOurs = true;
    return larger;
  }
}

const nothing = new Uint8Array();
