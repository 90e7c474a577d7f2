// The story as it happens: when, who, what. One line each.

import { style } from "../screen/style.ts";
import type { Talk } from "../screen/talk.ts";

export type Who = "you" | "replica 1" | "replica 2" | "kill -9" | "client" | "result";

const paint: Readonly<Record<Who, (text: string) => string>> = {
  you: style.bold,
  "replica 1": style.cyan,
  "replica 2": style.yellow,
  "kill -9": style.red,
  client: style.dim,
  result: style.green,
};

export class Narrator {
  readonly #talk: Talk;
  readonly #startedAt = performance.now();

  constructor(talk: Talk) {
    this.#talk = talk;
  }

  readonly tell = (who: Who, what: string): void => {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    const when = style.dim(`${seconds.padStart(5)} s`);
    this.#talk.line(`${when}  ${paint[who](who.padEnd(9))}  ${what}`);
  };
}

export const replicaName = (replica: number): Who => (replica === 1 ? "replica 1" : "replica 2");
