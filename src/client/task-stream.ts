// Reads what a task streams, while the task is polled. Polling shows the status of the task, and works without this. A
// server that does not support reading streams is not asked again.

import { invalidParams, methodNotFound } from "../protocol/error-codes.ts";
import { readStreamsMethod } from "../protocol/streaming.ts";
import { own } from "../util/objects.ts";
import { backOff } from "../util/timers.ts";
import type { CallStream } from "./call-stream.ts";
import { pause } from "./pause.ts";
import type { TaskServices } from "./remote-task.ts";
import { snapshotOf } from "./task-snapshot.ts";
import type { TaskSnapshot } from "./task-snapshot.ts";

/** How often a reading that breaks off is begun again while the task works. */
const mostFailures = 8;
/** How often to read what is left when the task has asked something or has ended. */
const mostCatchUps = 3;
/** How long the server may take to end a reading whose task has asked something or has ended. */
const catchUpMs = 5_000;
const retryDelay = { firstMs: 100, mostMs: 5_000 };

/** What the reader needs from the task that is being followed. */
export interface StreamedTask {
  readonly taskId: string;
  /** Polls the task soon. */
  readonly hurry: () => void;
}

interface Reading {
  /** Resolves when it has ended, well or not. */
  readonly end: Promise<void>;
  readonly stop: AbortController;
}

export class TaskStream {
  readonly #task: StreamedTask;
  readonly #services: Pick<TaskServices, "channel" | "meta">;
  readonly #stream: CallStream;
  readonly #over = new AbortController();
  #reading: Reading | undefined;
  /** The standing of the task when it was last read to its end. */
  #seen: string | undefined;
  #failures = 0;
  #isRefused = false;

  constructor(
    task: StreamedTask,
    services: Pick<TaskServices, "channel" | "meta">,
    stream: CallStream,
  ) {
    this.#task = task;
    this.#services = services;
    this.#stream = stream;
  }

  /** Call this with each snapshot of the task. Resolves when everything before that snapshot was read. Never rejects. */
  async follow(snapshot: TaskSnapshot): Promise<void> {
    if (snapshot.status === "working") {
      if (this.#failures <= mostFailures && !this.#isRefused) this.#open();
      return;
    }
    const standing = standingOf(snapshot);
    for (let tries = 1; tries <= mostCatchUps; tries += 1) {
      if (this.#isRefused || this.#over.signal.aborted || standing === this.#seen) return;
      const { end, stop } = this.#open();
      // On a dead connection that was not closed, the reading would never end. Then another would not end either.
      const timer = setTimeout(() => stop.abort(), catchUpMs);
      await end;
      clearTimeout(timer);
      if (stop.signal.aborted) break;
    }
    this.#seen = standing;
    this.#failures = 0;
  }

  /** Ends the reading. What is not certain yet is taken back. */
  stop(): void {
    this.#over.abort();
    this.#stream.end();
  }

  #open(): Reading {
    if (this.#reading !== undefined) return this.#reading;
    const stop = new AbortController();
    const reading = { end: this.#read(stop.signal), stop };
    this.#reading = reading;
    return reading;
  }

  async #read(stop: AbortSignal): Promise<void> {
    const { channel, meta } = this.#services;
    const { taskId } = this.#task;
    const { cursor } = this.#stream;
    try {
      const response = await channel.request(
        readStreamsMethod,
        { taskId, ...(cursor !== undefined && { after: cursor }) },
        { signal: AbortSignal.any([stop, this.#over.signal]), meta, onPart: this.#take },
      );
      if (response.kind === "error") {
        const { code, data } = response.error;
        this.#isRefused = code === methodNotFound;
        // The server has no place for another reader. What is recorded can be read when the task rests.
        if (own(data, "reason") === "too_many_readers") this.#failures = mostFailures;
        if (code === invalidParams && cursor !== undefined) this.#stream.restart();
        throw new Error(response.error.message);
      }
      const snapshot = snapshotOf(response.result, taskId);
      this.#stream.finished(response.result["cursor"]);
      this.#seen = standingOf(snapshot);
      if (snapshot.status === "working") await this.#holdOff();
      else this.#failures = 0;
    } catch {
      this.#stream.broken();
      if (!stop.aborted) await this.#holdOff();
    } finally {
      this.#reading = undefined;
      this.#task.hurry();
    }
  }

  /** The next reading begins after a pause. */
  async #holdOff(): Promise<void> {
    this.#failures += 1;
    await pause(backOff(this.#failures, retryDelay), this.#over.signal).catch(() => {});
  }

  readonly #take: CallStream["take"] = (part) => {
    this.#failures = 0;
    this.#stream.take(part);
  };
}

/** Two snapshots with the same standing have nothing new between them to wait for. */
const standingOf = ({ status, questions }: TaskSnapshot) =>
  JSON.stringify([status, ...questions.keys()]);
