// Everything that is said on standard error, by one speaker: lines, one line that changes in place, and silence while a
// prompt has the screen.

import { plainLine } from "./plain.ts";

export interface Speaking {
  readonly write: (text: string) => void;
  /** What is written can be taken back. */
  readonly isTerminal: boolean;
  readonly columns: number;
}

export class Talk {
  readonly #speaking: Speaking;
  #held: string[] | undefined;
  #live: string | undefined;

  constructor(speaking: Speaking) {
    this.#speaking = speaking;
  }

  get columns(): number {
    return this.#speaking.columns;
  }

  readonly line = (text: string): void => {
    if (this.#held !== undefined) return void this.#held.push(text);
    const live = this.#live;
    this.#clear();
    this.#speaking.write(`${text}\n`);
    if (live !== undefined) this.#show(live);
  };

  /** Takes the place of the one before. Elsewhere than on a terminal, each is a line. */
  readonly live = (text: string): void => {
    if (!this.#speaking.isTerminal) {
      if (text !== this.#live) this.line(text);
      this.#live = undefined;
      return;
    }
    if (this.#held !== undefined) return;
    this.#clear();
    this.#show(text);
  };

  /** What changed in place stays as it is now. */
  readonly settle = (): void => {
    if (this.#live !== undefined) this.#speaking.write("\n");
    this.#live = undefined;
  };

  /** Only `work` says anything while it goes on; what came meanwhile is said afterwards. */
  async quiet<T>(work: (say: (text: string) => void) => Promise<T>): Promise<T> {
    this.settle();
    this.#held = [];
    try {
      return await work((text) => this.#speaking.write(`${text}\n`));
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const text of held) this.line(text);
    }
  }

  #show(text: string): void {
    this.#speaking.write(text);
    this.#live = text;
  }

  #clear(): void {
    if (this.#live !== undefined) this.#speaking.write("\r\u001B[K");
    this.#live = undefined;
  }
}

/** So much of what a server says that the line is not longer than the terminal is wide. */
export function fitting(text: string, columns: number, used: number): string {
  const room = Math.max(columns - used - 1, 10);
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
