// The world as the server sees it: time, chance and the kind of process. Passed in, so that a test can
// move the clock and play every round on another instance.

import { nodeTurns } from "../../replay/turns.ts";
import type { Turns } from "../../replay/turns.ts";
import { randomBytes } from "../../token/random.ts";

export interface Environment {
  readonly now: () => number;
  /** Calls back after a while; returns the function that calls it off. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** The same, but no reason for the process to stay. */
  readonly eventually: (ms: number, callback: () => void) => () => void;
  /** 128 random bits, safe in a URL, in a header, and as a word of a command line: none begins with a dash. */
  readonly newId: () => string;
  readonly turns: Turns;
  /** More is looked at and told, at the price of some speed. */
  readonly isDevelopment: boolean;
  /** How long a replaying handler may do nothing before it counts as changed. */
  readonly stallMs: number;
}

// Timers take no more than 31 bits, and fire at once beyond.
const longestTimer = 2 ** 31 - 1;

export const nodeEnvironment: Environment = {
  // Looked up each time: a test may have put another clock in its place.
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, longestTimer));
    return () => clearTimeout(timer);
  },
  eventually: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, longestTimer));
    timer.unref();
    return () => clearTimeout(timer);
  },
  newId: () => randomBytes(16).toString("hex"),
  turns: nodeTurns,
  isDevelopment: process.env["NODE_ENV"] !== "production",
  stallMs: 5_000,
};
