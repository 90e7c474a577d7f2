// What the task engine needs to know about a tool. The server makes a program from each tool that may become a task.

import type { Carrier, RunRecording } from "../replay/carrier.ts";
import type { Open, Outcome } from "../replay/outcome.ts";
import type { Json } from "../util/json.ts";
import type { Handler } from "../replay/run.ts";
import type { StreamPart } from "./streams/pieces.ts";

/** A tool as the task engine runs it. */
export interface Program {
  /** Prepares one run. If it throws, the task fails, as it does when the handler throws. */
  readonly prepare: (task: TaskFacts) => Prepared | Promise<Prepared>;
  /** Turns the outcome of the handler into the end of the task. */
  readonly ending: (outcome: Ended, task: TaskFacts) => Ending | Promise<Ending>;
  /** The undo with this name. Undefined if none is registered in this process. */
  readonly undo?: ((name: string) => UndoRun | undefined) | undefined;
}

/** Undoes a step. */
export type UndoRun = (undone: UndoInfo) => unknown;

/** What an undo is called with. `V` is what the step returned. */
export interface UndoInfo<V = unknown> {
  /** What the step returned. Undefined if the step threw, or if its outcome is unknown. */
  readonly value: V | undefined;
  /** The key that the step's body was given. */
  readonly idempotencyKey: string;
  /** The key of the undo itself. It stays the same in every attempt. */
  readonly undoKey: string;
  /** The key of the step. */
  readonly stepKey: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The id of the call. */
  readonly callId: string;
  /** The user who made the call, or undefined without credentials. */
  readonly principal: string | undefined;
  /** Which attempt this is. The first is 1. */
  readonly attempt: number;
  /** Aborts when this process has to stop, or when another one has taken over. The undo is then tried again. */
  readonly signal: AbortSignal;
}

/** What a program knows about the task that it runs. */
export interface TaskFacts {
  readonly id: string;
  readonly callId: string;
  readonly principal: string;
  /** The input that `TaskRuntime.create` received. */
  readonly input: Json;
  /** Sets the status message that clients see. Messages in quick succession are dropped in favour of the last one. */
  readonly report: (message: string) => void;
  /** Takes what a stream produces, for those who read the task. It never throws, and nothing waits for it. */
  readonly stream: (part: StreamPart) => void;
}

/** A run that is ready to start. */
export interface Prepared {
  readonly handler: Handler<unknown, unknown>;
  readonly input: unknown;
  /** The carrier of this run, which passes on what the task engine does itself: it records entries and stops the run. */
  readonly carrier: (recording: RunRecording) => Carrier;
  /**
   * Whether the entry of an answer may be written after the handler has it. After a crash the handler gets the same answer again,
   * so nothing that would notice this may be told of answers. Default: no.
   */
  readonly mayPutOff?: boolean | undefined;
  /** How the client sees an open question. It does not see a question that is answered from elsewhere. */
  readonly shown: (open: Open) => Shown;
  /** Called with questions that are about to be shown for the first time. */
  readonly asked?: ((open: readonly AskedOpen[]) => Promise<void> | undefined) | undefined;
  /** Called with the run and the writing of its end, for a trace. */
  readonly around?: (<T extends Outcome<unknown>>(run: () => Promise<T>) => Promise<T>) | undefined;
}

/** A question, and the name that its answer uses. */
export interface AskedOpen extends Open {
  readonly wire: string;
}

type Shown = (
  | { readonly kind: "question"; readonly request: Json }
  | {
      readonly kind: "external";
      /** Of an approval: how many people must agree. */
      readonly needs?: number | undefined;
      /** Whose members answer. It is kept in plain text, so that operators can search by it. */
      readonly group?: string | undefined;
    }
) & {
  /** How a page shows it, if a page brings the answer. */
  readonly page?: Json | undefined;
};

/** The outcome of a handler that has returned or thrown. */
export type Ended = Extract<Outcome<unknown>, { kind: "done" | "failed" }>;

/** How a task ends. */
export type Ending =
  | { readonly status: "completed"; readonly result: Json }
  | { readonly status: "failed"; readonly error: TaskError };

/** The code of a failure that is not the tool's own. src/protocol has the same one, and this layer does not import it. */
export const internalErrorCode = -32_603;

/** The error of a failed task, in the form of JSON-RPC. */
export interface TaskError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json | undefined;
}
