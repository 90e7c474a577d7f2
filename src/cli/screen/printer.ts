// Prints everything that goes to standard error: lines, one line that changes in place, and nothing while a prompt has
// the screen.

import process from "node:process";
import type { Io } from "../command.ts";
import { plainLine } from "./plain.ts";

/** Where a printer writes. */
export interface PrinterOptions {
  readonly write: (text: string) => void;
  /** Whether a line can be overwritten. */
  readonly isTerminal: boolean;
  /** The width of a line. */
  readonly columns: number;
  /** Where results go. By default they are not printed. */
  readonly writeResult?: ((text: string) => void) | undefined;
  /** Whether results appear on the same screen. */
  readonly isShared?: boolean;
}

/** The least time between two updates of the line, because a server can send more than a person can read. */
const pauseMs = { onTerminal: 50, elsewhere: 1_000 };

const takeBack = "\r\u001B[K";

/** Prints progress and messages. */
export class Printer {
  readonly #options: PrinterOptions;
  #held: (() => void)[] | undefined;
  /** The screen shows text of a result, and its line is not over. */
  #isMidLine = false;
  /** The text of the line that changes in place. */
  #live: string | undefined;
  /** Its next text. */
  #next: string | undefined;
  #changedAt = -Infinity;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  get columns(): number {
    return this.#options.columns;
  }

  readonly line = (text: string): void => {
    if (this.#held !== undefined) return void this.#held.push(() => this.line(text));
    this.#startLine();
    this.#catchUp();
    const { write, isTerminal } = this.#options;
    const live = isTerminal ? this.#live : undefined;
    write(live === undefined ? `${text}\n` : `${takeBack}${text}\n${live}`);
  };

  /** Replaces the line that changes in place. Without a terminal, each text is a line of its own. */
  readonly live = (text: string): void => {
    if (this.#held !== undefined || this.#isMidLine) return;
    this.#next = text;
    const pause = this.#options.isTerminal ? pauseMs.onTerminal : pauseMs.elsewhere;
    if (performance.now() - this.#changedAt >= pause) this.#catchUp();
  };

  /** Keeps the line that changes in place as it is now, and starts a new one. */
  readonly settle = (): void => {
    this.#startLine();
    this.#catchUp();
    if (this.#live !== undefined && this.#options.isTerminal) this.#options.write("\n");
    this.#live = undefined;
  };

  /** Prints text of a result as it comes. Lines that follow do not break into it. */
  readonly result = (text: string): void => {
    if (this.#held !== undefined) return void this.#held.push(() => this.result(text));
    const { writeResult, isShared = false } = this.#options;
    if (!this.#isMidLine) this.settle();
    writeResult?.(text);
    this.#isMidLine = isShared && !text.endsWith("\n");
  };

  #startLine(): void {
    if (this.#isMidLine) this.#options.write("\n");
    this.#isMidLine = false;
  }

  /** Only `work` prints while it runs. Other lines are printed afterwards. */
  async quiet<T>(work: (say: (text: string) => void) => Promise<T>): Promise<T> {
    this.settle();
    this.#held = [];
    try {
      return await work(this.#say);
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const print of held) print();
    }
  }

  readonly #say = (text: string): void => {
    const { write, columns } = this.#options;
    for (const line of text.split("\n").flatMap((one) => wrapped(one, columns))) write(`${line}\n`);
  };

  #catchUp(): void {
    const text = this.#next;
    this.#next = undefined;
    if (text === undefined || text === this.#live) return;
    const { write, isTerminal } = this.#options;
    if (!isTerminal) write(`${text}\n`);
    else write(this.#live === undefined ? text : `${takeBack}${text}`);
    this.#live = text;
    this.#changedAt = performance.now();
  }
}

/** A printer on standard error. */
export function printerFor({ out, err }: Io, isQuiet = false): Printer {
  const isTerminal = process.stderr.isTTY && process.env["TERM"] !== "dumb";
  const isShared = process.stderr.isTTY && process.stdout.isTTY;
  const write = isQuiet ? () => {} : err;
  return new Printer({ write, isTerminal, columns: columnsHere(), writeResult: out, isShared });
}

/** The width of the terminal. Without one, lines are not limited. */
export const columnsHere = (): number =>
  process.stderr.isTTY ? process.stderr.columns || 80 : 10_000;

/** Cuts a text of a server so that the line fits the terminal. */
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

/** The width of a text in columns. Some characters take two. */
export function widthOf(text: string): number {
  const wide = text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/gu,
  );
  return Array.from(text).length + (wide?.length ?? 0);
}

/** Breaks a long line between words, and indents each part like the line. */
export function wrapped(line: string, columns: number): readonly string[] {
  const [indent = ""] = /^ */.exec(line) ?? [];
  const room = Math.max(20, columns - indent.length - 1);
  const parts = line.match(new RegExp(`\\S.{0,${room - 1}}(?=\\s|$)|\\S+`, "g")) ?? [""];
  return parts.map((part) => `${indent}${part}`);
}
