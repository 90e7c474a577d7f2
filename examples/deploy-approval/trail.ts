// The audit trail: a file that only grows.

import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface TrailLine {
  readonly at: string;
  readonly who: string;
  readonly did: "ask" | "approve" | "refuse" | "deploy" | "wait";
  readonly what: string;
  /** The id of the call, from the ticket. */
  readonly call: string;
  readonly outcome: string;
}

export class Trail {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  write(line: Omit<TrailLine, "at">): void {
    const at = new Date().toISOString();
    appendFileSync(this.#file, `${JSON.stringify({ at, ...line })}\n`);
  }

  lines(): TrailLine[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line): TrailLine => JSON.parse(line));
  }

  /** The line that says what this call asked for, and who asked. */
  asked(call: string): TrailLine | undefined {
    return this.lines().find((line) => line.call === call && line.did === "ask");
  }
}
