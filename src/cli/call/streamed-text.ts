// Prints what a call streams as it comes, and at the end only the part of the result that is not printed yet.

import type { Part } from "../../client/index.ts";
import { plain, plainLine } from "../screen/plain.ts";
import type { Printer } from "../screen/printer.ts";
import { style } from "../screen/style.ts";
import { blockText } from "./block-text.ts";

// oxlint-disable no-control-regex -- these characters are what we look for
/** The beginning of something that `plain` removes or changes, whose rest may come with the next part. */
const unfinished =
  /(?:\u001B(?:\[[0-?]{0,64}[ -/]{0,8}|\][^\u0007\u001B]{0,4096}\u001B?)?|\u009B[0-?]{0,64}[ -/]{0,8}|\r|[\uD800-\uDBFF])$/;

interface Block {
  /** What was printed of it, or waits to be printed, as the server sent it. */
  said: string;
  /** The server has taken it back. If the server sends the same again, nothing is printed twice. */
  isTakenBack: boolean;
}

export class StreamedText {
  readonly #printer: Printer;
  readonly #blocks = new Map<string, Block>();
  /** Everything that was printed. */
  #printed = "";
  #last: string | undefined;
  #tail = "";

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  take(part: Part): void {
    const { block: name, op } = part;
    const block = this.#blocks.get(name) ?? { said: "", isTakenBack: false };
    this.#blocks.set(name, block);
    if (op !== "append") block.isTakenBack = true;
    if (op === "reset") return;
    if (!block.isTakenBack) return this.#add(name, block, part.content);
    const { text, content } = part.soFar;
    // The server repeats what it has sent before.
    if (block.said.startsWith(text) && text !== block.said) return;
    block.isTakenBack = false;
    if (text.startsWith(block.said) && content.length <= 1) {
      const more = text.slice(block.said.length);
      return this.#add(name, block, more === "" ? [] : [{ type: "text", text: more }]);
    }
    this.#printer.line(style.yellow(`   The server begins "${plainLine(name, 40)}" again.`));
    block.said = "";
    this.#startLine();
    this.#add(name, block, content);
  }

  /** What is left to print of this result. */
  rest(result: string): string {
    this.#flush();
    if (this.#printed === "") return `${result}\n`;
    if (result.trimEnd() === this.#printed.trimEnd()) return this.#lineEnd();
    if (result.startsWith(this.#printed)) return `${result.slice(this.#printed.length)}\n`;
    return `${this.#lineEnd()}${result}\n`;
  }

  /** Ends the last line, if the call has no result. */
  end(): string {
    this.#flush();
    return this.#lineEnd();
  }

  #lineEnd(): string {
    return this.#printed === "" || this.#printed.endsWith("\n") ? "" : "\n";
  }

  #add(name: string, block: Block, content: Part["content"]): void {
    for (const one of content) {
      if (one.type !== "text") {
        this.#startLine();
        this.#print(`${blockText(one)}\n`);
        continue;
      }
      if (this.#last !== undefined && this.#last !== name) this.#startLine();
      this.#last = name;
      block.said += one.text;
      const text = this.#tail + one.text;
      this.#tail = unfinished.exec(text)?.[0] ?? "";
      this.#print(plain(text.slice(0, text.length - this.#tail.length)));
    }
  }

  #startLine(): void {
    this.#flush();
    if (this.#printed !== "" && !this.#printed.endsWith("\n")) this.#print("\n");
  }

  #flush(): void {
    const tail = this.#tail;
    this.#tail = "";
    this.#print(plain(tail));
  }

  #print(text: string): void {
    if (text === "") return;
    this.#printed += text;
    this.#printer.result(text);
  }
}
