// A process of these tests, and the lines that it writes. It ends when the process that started it ends.

import { writeSync } from "node:fs";
import { startProgram } from "../programs.ts";
import { orders } from "./place.ts";

/** Writes a line at once and in order, even right before the process dies. */
export const say = (what: object): void => void writeSync(1, `${JSON.stringify(what)}\n`);

export interface Said {
  readonly [member: string]: unknown;
  /** When it was received, by the clock of the receiver. */
  readonly at: number;
}

export class ReplicaProcess {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly said: Said[] = [];
  /** Resolves when the process has ended and all of its lines have been read. */
  readonly gone: Promise<void>;
  readonly #listeners = new Set<() => void>();
  #isGone = false;

  /** `file` is the name of a file in this folder. */
  constructor(file: string, what: object) {
    const { pid, kill, lines } = startProgram(`test/faults/${file}`, orders(what));
    this.pid = pid;
    this.kill = kill;
    this.gone = this.#hear(lines);
  }

  /** The first line of this kind, past or future. */
  async hears(isIt: (said: Said) => boolean, what: string, ms = 30_000): Promise<Said> {
    const signal = AbortSignal.timeout(ms);
    for (;;) {
      const found = this.said.find(isIt);
      if (found !== undefined) return found;
      if (signal.aborted || this.#isGone) {
        const state = this.#isGone ? "has gone" : "is silent";
        throw new Error(
          `a process ${state} and has not said "${what}": ${JSON.stringify(this.said)}`,
        );
      }
      await this.#more(signal);
    }
  }

  async #hear(lines: AsyncIterable<string>): Promise<void> {
    for await (const line of lines) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `say` wrote it
      this.said.push({ ...(JSON.parse(line) as object), at: performance.now() });
      this.#wake();
    }
    this.#isGone = true;
    this.#wake();
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #wake(): void {
    for (const listener of this.#listeners) listener();
  }
}
