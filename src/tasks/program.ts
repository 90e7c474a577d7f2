// What a tool is to the task engine. The server makes one of each tool that may become a task.

import type { Carrier } from "../replay/carrier.ts";
import type { Open, Outcome } from "../replay/outcome.ts";
import type { Json } from "../util/json.ts";
import type { Handler } from "../replay/run.ts";

export interface Program {
  /** What a run of this task needs: called for each run. Throwing fails the task, as the handler's throwing does. */
  readonly prepare: (task: TaskFacts) => Prepared | Promise<Prepared>;
  /** What the task ends with. */
  readonly ending: (outcome: Ended, task: TaskFacts) => Ending | Promise<Ending>;
}

export interface TaskFacts {
  readonly id: string;
  readonly callId: string;
  readonly principal: string;
  /** What `TaskRuntime.create` was given. */
  readonly input: Json;
  /** The status message that watchers see. Throttled. */
  readonly report: (message: string) => void;
}

export interface Prepared {
  readonly handler: Handler<unknown, unknown>;
  readonly input: unknown;
  readonly hooks: Pick<
    Carrier,
    "name" | "turns" | "after" | "stallMs" | "place" | "capture" | "nesting" | "report" | "onIdle"
  >;
  /** What is shown of an open question: to the client, or to nobody, where someone else delivers. */
  readonly shown: (open: Open) => Shown;
}

type Shown = { readonly kind: "question"; readonly request: Json } | { readonly kind: "external" };

export type Ended = Extract<Outcome<unknown>, { kind: "done" | "failed" }>;

export type Ending =
  | { readonly status: "completed"; readonly result: Json }
  | { readonly status: "failed"; readonly error: TaskError };

/** As JSON-RPC has it. */
export interface TaskError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json | undefined;
}
