// The process around the server: its clock, its timers, random ids, and whether it runs in development. It is passed in, so
// that a test can move the clock and serve each round on another instance.

import { nodeTurns } from "../../replay/turns.ts";
import type { Turns } from "../../replay/turns.ts";
import { randomBytes } from "../../token/random.ts";
import { longestTimerMs, unref } from "../../util/timers.ts";

/** What the server needs from its process. */
export interface Environment {
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back after a number of milliseconds. Returns the function that cancels it. */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** The same, but the timer does not keep the process alive. */
  readonly eventually: (ms: number, callback: () => void) => () => void;
  /** 128 random bits as text that is safe in a URL, in a header and on a command line, where it never begins with a dash. */
  readonly newId: () => string;
  readonly turns: Turns;
  /** In development more is checked and reported, which costs some speed. */
  readonly isDevelopment: boolean;
  /** How long a replaying handler may do nothing before it counts as changed, in milliseconds (R6). */
  readonly stallMs: number;
}

/** The environment of a Node process. */
export const nodeEnvironment: Environment = {
  // `Date.now` is looked up each time, because a test may replace it.
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, longestTimerMs));
    return () => clearTimeout(timer);
  },
  eventually: (ms, callback) => {
    const timer = setTimeout(callback, Math.min(ms, longestTimerMs));
    unref(timer);
    return () => clearTimeout(timer);
  },
  newId: () => randomBytes(16).toString("hex"),
  turns: nodeTurns,
  isDevelopment: process.env["NODE_ENV"] !== "production",
  stallMs: 5_000,
};
