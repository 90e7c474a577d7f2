// What changes, as one JSON object a line. It says only that something may have changed: the page reads again what it shows,
// with its own permissions. Hints of a store may be lost, so a heartbeat also says whether the store can be reached.

import type { Inside } from "../server/inside.ts";
import { Refusal } from "./refusal.ts";
import { plainHeaders } from "./refusal.ts";
import type { LiveLine } from "./wire.ts";

const beatMs = 10_000;
/** While the store is down, it is tried more often, so that people see soon that it is back. */
const retryMs = 2_000;
/** A stream ends after this time, so that a person who has lost their rights hears no more. The page opens another. */
const longestMs = 5 * 60_000;
/** Changes within this time share a line. */
const gapMs = 100;
/** The most pages that listen at once. Each costs a connection. */
const mostStreams = 200;
/** The most pages of one person, so that nobody can keep the others out. */
const mostEach = 20;
/** After so many different tasks, "any" says it all. */
const mostIds = 50;

/** The streams of one console. */
export class LiveStreams {
  readonly #inside: Inside;
  readonly #open = new Set<Stream>();
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #downSince: number | undefined;
  /** Ends all streams. The app has another one after it was closed and is used again. */
  #closing: AbortSignal | undefined;

  constructor(inside: Inside) {
    this.#inside = inside;
  }

  /** Opens a stream, which ends with the request or with the app. */
  open(who: string, signal: AbortSignal): Response {
    const own = [...this.#open].filter((stream) => stream.who === who).length;
    if (own >= mostEach) {
      throw new Refusal(503, "busy", "You have too many pages of this console open. Close some.");
    }
    if (this.#open.size >= mostStreams) {
      throw new Refusal(503, "busy", "Too many people have this console open. Try again later.");
    }
    const closing = this.#inside.closing();
    const stream = new Stream(who, () => this.#closed(stream));
    this.#open.add(stream);
    signal.addEventListener("abort", stream.close, { once: true, signal: stream.ended });
    const longest = setTimeout(stream.close, longestMs).unref();
    stream.ended.addEventListener("abort", () => clearTimeout(longest), { once: true });
    this.#begin(closing);
    if (signal.aborted || closing.aborted) stream.close();
    stream.line({ type: "beat" });
    if (this.#downSince !== undefined) stream.line(this.#storeLine());
    return new Response(stream.body, {
      headers: {
        ...plainHeaders,
        "content-type": "application/x-ndjson; charset=utf-8",
        "x-accel-buffering": "no",
      },
    });
  }

  /** A call of rounds has changed. */
  call(id: string): void {
    this.#send({ type: "call", id });
  }

  #begin(closing: AbortSignal): void {
    if (this.#closing !== closing) {
      // One listener for all streams: Node warns of a leak when there are more than ten.
      this.#closing?.removeEventListener("abort", this.#closeAll);
      this.#closing = closing;
      closing.addEventListener("abort", this.#closeAll, { once: true });
    }
    const { store } = this.#inside.core;
    this.#unsubscribe ??= store?.subscribe(({ id, isParts }) => {
      if (isParts !== true) this.#send(id === undefined ? { type: "any" } : { type: "task", id });
    });
    if (this.#timer === undefined) this.#beat();
  }

  readonly #closeAll = (): void => {
    for (const stream of this.#open) stream.close();
  };

  /** There is one heartbeat at a time, even if a look into the store outlasts the one that has begun meanwhile. */
  #beat(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => void this.#check(),
      this.#downSince === undefined ? beatMs : retryMs,
    );
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    const wasDown = this.#downSince !== undefined;
    try {
      await this.#inside.core.store?.workers();
      this.#downSince = undefined;
    } catch {
      this.#noteDown();
    }
    if (this.#open.size === 0) return;
    const isDown = this.#downSince !== undefined;
    this.#send(wasDown === isDown ? { type: "beat" } : this.#storeLine());
    this.#beat();
  }

  /**
   * A request has found the store down, so the pages need not wait for the next heartbeat. Returns since when it has been
   * failing.
   */
  storeFailed(): number {
    // Without a heartbeat, nobody has noticed whether it was back meanwhile.
    if (this.#open.size === 0) this.#downSince = undefined;
    const wasDown = this.#downSince !== undefined;
    const since = this.#noteDown();
    if (!wasDown) {
      this.#send(this.#storeLine());
      if (this.#open.size > 0) this.#beat();
    }
    return since;
  }

  /** The worker of this process may have noticed before anyone looked. */
  #noteDown(): number {
    return (this.#downSince ??= this.#inside.storeFailingSince() ?? Date.now());
  }

  #storeLine(): LiveLine {
    const since = this.#downSince;
    return since === undefined
      ? { type: "store", isDown: false }
      : { type: "store", isDown: true, since };
  }

  #send(line: LiveLine): void {
    for (const stream of this.#open) stream.line(line);
  }

  #closed(stream: Stream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** The stream to one page. A page that does not read gets one "any" in place of what it missed. */
class Stream {
  readonly who: string;
  readonly body: ReadableStream<Uint8Array>;
  readonly #done = new AbortController();
  readonly #onClose: () => void;
  readonly #waiting = new Map<string, LiveLine>();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(who: string, onClose: () => void) {
    this.who = who;
    this.#onClose = onClose;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      pull: () => this.#flush(),
      cancel: () => this.close(),
    });
  }

  get ended(): AbortSignal {
    return this.#done.signal;
  }

  readonly close = (): void => {
    if (this.#done.signal.aborted) return;
    this.#done.abort();
    clearTimeout(this.#timer);
    try {
      this.#controller?.close();
    } catch {
      // The reader has cancelled it.
    }
    this.#onClose();
  };

  line(line: LiveLine): void {
    const tasks = this.#waiting.size >= mostIds && "id" in line;
    const kept: LiveLine = tasks ? { type: "any" } : line;
    this.#waiting.set("id" in kept ? `${kept.type} ${kept.id}` : kept.type, kept);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, gapMs).unref();
  }

  #flush(): void {
    const controller = this.#controller;
    if (controller === undefined || this.#done.signal.aborted || this.#timer !== undefined) return;
    if ((controller.desiredSize ?? 0) <= 0 || this.#waiting.size === 0) return;
    const lines = [...this.#waiting.values()].map((line) => `${JSON.stringify(line)}\n`);
    this.#waiting.clear();
    controller.enqueue(Buffer.from(lines.join("")));
  }
}
