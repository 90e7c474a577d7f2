// What a round is given and what it gives back, whichever transport carries it. Types only, so that every part of a
// round can name them without importing the round itself.

import type { ClientCapabilities, LoggingLevel } from "@modelcontextprotocol/server";
import type { InputRequired } from "../../protocol/input-required.ts";
import type { Stop } from "../../replay/stop.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import type { RequestFacts, Watch } from "../context/context.ts";
import type { WireResult } from "../define/definition.ts";

export interface RoundRequest {
  /** A tool's or prompt's name, or a resource's URI. */
  readonly target: string;
  readonly arguments: unknown;
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
  /** As this very request declares them. */
  readonly capabilities: ClientCapabilities;
  /** Who is calling, from verified credentials. */
  readonly principal: string | undefined;
  /** How long the client would have a task last, where its handler does not say. Within the limits. */
  readonly taskTtlMs?: number | undefined;
  readonly facts: RequestFacts;
  readonly stop?: Stop | undefined;
  readonly notify?: Notify | undefined;
  readonly watch?: Watch | undefined;
}

interface Notify {
  readonly progress: (done: number, total?: number, message?: string) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
}

export type RoundResponse =
  | { readonly kind: "complete"; readonly result: WireResult }
  | { readonly kind: "input_required"; readonly result: InputRequired }
  /** From here on it is a task. */
  | { readonly kind: "task"; readonly task: TaskSnapshot }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      readonly data?: Readonly<Record<string, unknown>>;
      /** What was thrown, for whoever runs in the same process. Never sent. */
      readonly cause?: unknown;
    }
  /** Nobody waits for an answer any more. */
  | { readonly kind: "none" };
