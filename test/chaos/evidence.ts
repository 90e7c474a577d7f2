// What handlers and bodies note while they run, in one file for all processes. A line is one write to a file that
// is open for appending: none is torn, and what was noted stays noted however its process ends.

import { openSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";

interface Noted {
  /** By the machine's monotonic clock, which all its processes share, in milliseconds. */
  readonly at: number;
  /** The call's id. */
  readonly task: string;
  /** One execution of the handler. */
  readonly run: string;
}

interface RunBegan extends Noted {
  readonly kind: "run";
  readonly worker: string;
}

/** The handler has heard what became of an operation. */
export interface Told extends Noted {
  readonly kind: "told";
  readonly key: string;
  readonly value: string;
}

export interface BodyStarted extends Noted {
  readonly kind: "started";
  readonly key: string;
  /** Known to nobody else: also what the body returns or throws. */
  readonly nonce: string;
  /** When the worker made sure that it still had its lease, just before. */
  readonly checkedAt: number;
  readonly idempotencyKey: string;
}

interface BodyEnded extends Noted {
  readonly kind: "ended";
  readonly key: string;
  readonly nonce: string;
}

export type Evidence = RunBegan | Told | BodyStarted | BodyEnded;

export type Note = (evidence: Evidence) => void;

export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

export function noteTo(path: string): Note {
  const file = openSync(path, "a");
  return (evidence) => void writeSync(file, `${JSON.stringify(evidence)}\n`);
}

export function readEvidence(path: string): Evidence[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Evidence => JSON.parse(line));
}
