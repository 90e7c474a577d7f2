// Everything that is said on standard error, by one speaker: lines, one line that changes in place, and silence while a
// prompt has the screen.

import process from "node:process";
import type { Io } from "../command.ts";
import { plainLine } from "./plain.ts";
import { wrapped } from "./wrapped.ts";

export interface Speaking {
  readonly write: (text: string) => void;
  /** What is written can be taken back. */
  readonly isTerminal: boolean;
  readonly columns: number;
}

/** Between two changes of the line that changes: a server may say more than anybody can read. */
const pauseMs = { onTerminal: 50, elsewhere: 1_000 };

const takeBack = "\r\u001B[K";

export class Talk {
  readonly #speaking: Speaking;
  #held: string[] | undefined;
  /** What is on the line that changes. */
  #live: string | undefined;
  /** What it is to be next. */
  #next: string | undefined;
  #changedAt = -Infinity;

  constructor(speaking: Speaking) {
    this.#speaking = speaking;
  }

  get columns(): number {
    return this.#speaking.columns;
  }

  readonly line = (text: string): void => {
    if (this.#held !== undefined) return void this.#held.push(text);
    this.#catchUp();
    const { write, isTerminal } = this.#speaking;
    const live = isTerminal ? this.#live : undefined;
    write(live === undefined ? `${text}\n` : `${takeBack}${text}\n${live}`);
  };

  /** Takes the place of the one before. Elsewhere than on a terminal, each is a line. */
  readonly live = (text: string): void => {
    if (this.#held !== undefined) return;
    this.#next = text;
    const pause = this.#speaking.isTerminal ? pauseMs.onTerminal : pauseMs.elsewhere;
    if (performance.now() - this.#changedAt >= pause) this.#catchUp();
  };

  /** What changed in place stays as it is now. */
  readonly settle = (): void => {
    this.#catchUp();
    if (this.#live !== undefined && this.#speaking.isTerminal) this.#speaking.write("\n");
    this.#live = undefined;
  };

  /** Only `work` says anything while it goes on; what came meanwhile is said afterwards. */
  async quiet<T>(work: (say: (text: string) => void) => Promise<T>): Promise<T> {
    this.settle();
    this.#held = [];
    try {
      return await work(this.#say);
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const text of held) this.line(text);
    }
  }

  readonly #say = (text: string): void => {
    const { write, columns } = this.#speaking;
    for (const line of text.split("\n").flatMap((one) => wrapped(one, columns))) write(`${line}\n`);
  };

  #catchUp(): void {
    const text = this.#next;
    this.#next = undefined;
    if (text === undefined || text === this.#live) return;
    const { write, isTerminal } = this.#speaking;
    if (!isTerminal) write(`${text}\n`);
    else write(this.#live === undefined ? text : `${takeBack}${text}`);
    this.#live = text;
    this.#changedAt = performance.now();
  }
}

export function talkOf({ err }: Io, isQuiet = false): Talk {
  const isTerminal = process.stderr.isTTY && process.env["TERM"] !== "dumb";
  return new Talk({ write: isQuiet ? () => {} : err, isTerminal, columns: columnsHere() });
}

/** Elsewhere than on a terminal nothing has to fit. */
export const columnsHere = (): number =>
  process.stderr.isTTY ? process.stderr.columns || 80 : 10_000;

/** So much of what a server says that the line is not longer than the terminal is wide. */
export function fitting(text: string, columns: number, used: number): string {
  const room = Math.max(columns - used - 1, 4);
  const line = plainLine(text, 1_000);
  if (widthOf(line) <= room) return line;
  let fit = "";
  for (const character of line) {
    if (widthOf(fit + character) > room - 1) break;
    fit += character;
  }
  return `${fit.trimEnd()}…`;
}

/** In columns: some characters take two. */
export function widthOf(text: string): number {
  const wide = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/gu,
  );
  return Array.from(text).length + (wide?.length ?? 0);
}
