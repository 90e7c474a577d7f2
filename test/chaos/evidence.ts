// What handlers and bodies note while they run, in one file for all processes. Each line is one write to a file that is
// open for appending, so no line is torn, and a line stays no matter how its process ends.

import { openSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";

interface Noted {
  /** The time in milliseconds, by the monotonic clock of the machine, which all processes share. */
  readonly at: number;
  /** The id of the call. */
  readonly task: string;
  /** One execution of the handler. */
  readonly run: string;
}

interface RunBegan extends Noted {
  readonly kind: "run";
  readonly worker: string;
}

/** The handler has received the outcome of an operation. */
export interface Told extends Noted {
  readonly kind: "told";
  readonly key: string;
  readonly value: string;
}

export interface BodyStarted extends Noted {
  readonly kind: "started";
  readonly key: string;
  /** A value that no other body has. The body returns or throws it. */
  readonly nonce: string;
  /** When the worker last checked its lease, just before. */
  readonly checkedAt: number;
  readonly idempotencyKey: string;
  readonly hasUndo: boolean;
}

interface BodyEnded extends Noted {
  readonly kind: "ended";
  readonly key: string;
  readonly nonce: string;
}

/** An undo was called. It can fail, and its process can die, so this happens more than once to some steps. */
export interface UndoStarted extends Noted {
  readonly kind: "undoing";
  /** The key of the step. */
  readonly key: string;
  readonly undoKey: string;
  /** What the step returned, as text, or undefined. */
  readonly value: string | undefined;
  /** When the worker last checked its lease, just before. */
  readonly checkedAt: number;
}

export interface UndoEnded extends Noted {
  readonly kind: "undone";
  readonly key: string;
}

/** A reader in a replica held a text that mixes two attempts of a body. */
interface Mixed extends Noted {
  readonly kind: "mixed";
  readonly text: string;
}

export type Evidence = RunBegan | Told | BodyStarted | BodyEnded | UndoStarted | UndoEnded | Mixed;

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
