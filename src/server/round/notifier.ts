// What a handler sends to its client while it runs: progress, if the client sent a token, log messages, and the parts of
// streams. A client that wants progress and no parts gets the last line of a stream as a progress message.

import type { LoggingLevel } from "@modelcontextprotocol/server";
import type { PartContent } from "../../protocol/streaming.ts";
import type { PartSink } from "../context/part-sink.ts";
import type { Notify } from "./request.ts";

/** The params of a progress notification. */
interface ProgressParams {
  progressToken: string | number;
  progress: number;
  total?: number;
  message?: string;
}

/** The way to the client of one request. */
export interface Outlet {
  readonly progress: (params: ProgressParams) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
  /** Takes the parts of streams, if the client wants them. It is asked for once at most. */
  readonly parts: () => PartSink | undefined;
  readonly now: () => number;
}

/** How much a line of a stream raises progress: enough to be sent, and too little to get in the way of the handler's own values. */
const nudge = 1e-6;
/** How often such a line is sent at most. */
const lineMs = 500;
/** What is kept and sent of a line, in characters. */
const longestLine = 200;

/** The notifier of one request. Its rounds share it. Without a token it sends no progress. */
export class Notifier implements Notify {
  readonly #token: string | number | undefined;
  readonly #outlet: Outlet;
  /** The largest that was sent. The specification requires every progress to be larger than the one before. */
  #sent = Number.NEGATIVE_INFINITY;
  /** The largest of the handler's own. */
  #own = Number.NEGATIVE_INFINITY;
  #parts: PartSink | undefined;
  #line = "";
  #lineSentAt = Number.NEGATIVE_INFINITY;

  constructor(token: string | number | undefined, outlet: Outlet) {
    this.#token = token;
    this.#outlet = outlet;
  }

  progress(progress: number, total?: number, message?: string): void {
    if (!(progress > this.#own)) return;
    this.#own = progress;
    const isPassed = progress <= this.#sent;
    this.#send(isPassed ? this.#sent + nudge : progress, message, total);
  }

  log(level: LoggingLevel, data: unknown): void {
    this.#outlet.log(level, data);
  }

  get parts(): PartSink | undefined {
    this.#parts ??= this.#outlet.parts() ?? (this.#token === undefined ? undefined : this.#lines);
    return this.#parts;
  }

  readonly #lines: PartSink = { send: (part) => this.#showLine(part) };

  #showLine({ content = [] }: PartContent): undefined {
    for (const block of content) {
      if (block.type === "text") this.#line = lastLine(this.#line + block.text);
    }
    const message = this.#line.trim();
    const now = this.#outlet.now();
    if (message === "" || now - this.#lineSentAt < lineMs) return;
    this.#lineSentAt = now;
    this.#send(Math.max(this.#sent, 0) + nudge, message);
  }

  #send(progress: number, message: string | undefined, total?: number): void {
    // A number so large that the nudge does not change it cannot be raised.
    if (this.#token === undefined || !(progress > this.#sent)) return;
    this.#sent = progress;
    this.#outlet.progress({
      progressToken: this.#token,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  }
}

/** The last line that has text. Of a long one, its end. */
function lastLine(text: string): string {
  const from = text.trimEnd().lastIndexOf("\n") + 1;
  return text.slice(Math.max(from, text.length - longestLine));
}
