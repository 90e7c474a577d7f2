// What goes into a round and what comes out of it, on every transport. Types only, so that each part of a round can name
// them without importing the round itself.

import type { ClientCapabilities, LoggingLevel } from "@modelcontextprotocol/server";
import type { InputRequired } from "../../protocol/input-required.ts";
import type { Era } from "../../protocol/versions.ts";
import type { Stop } from "../../replay/stop.ts";
import type { Turns } from "../../replay/turns.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import type { RequestFacts } from "../context/context.ts";
import type { PartSink } from "../context/part-sink.ts";
import type { StepObserver } from "../context/observed-body.ts";
import type { WireResult } from "../define/definition.ts";
import type { OpenWays, Way } from "./ways.ts";

/** One request for a tool, a prompt or a resource. */
export interface RoundRequest {
  /** The name of the tool or prompt, or the URI of the resource. */
  readonly target: string;
  /** The URI of the resource, if it has been parsed already. The handler gets this object. */
  readonly url?: URL | undefined;
  readonly arguments: unknown;
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
  /** What this request declares. Later requests of the same call may declare something else. */
  readonly capabilities: ClientCapabilities;
  /** The protocol version of this request. Default: 2026-07-28. */
  readonly era?: Era | undefined;
  /** The caller, from verified credentials. */
  readonly principal: string | undefined;
  /** How long the client asks a task to last, within the limits. A handler that sets `ttlMs` overrides it. */
  readonly taskTtlMs?: number | undefined;
  /** Whether the client asks for a task, and its protocol version leaves that to the client. The call is then one from the start. */
  readonly isTaskWanted?: boolean | undefined;
  /** Whether it continues a paused call. Its rounds are recorded, and its caller pauses it again. */
  readonly isContinued?: boolean | undefined;
  /** How long to wait for a task that the client cannot follow, in milliseconds. Default: `limits.inlineMs`. */
  readonly patienceMs?: number | undefined;
  readonly facts: RequestFacts;
  readonly stop?: Stop | undefined;
  readonly notify?: Notify | undefined;
  /** The turns of rounds that are served together. Default: each round takes its own. */
  readonly turns?: Turns | undefined;
  /** Set by the test kit. */
  readonly stepObserver?: StepObserver | undefined;
}

/** Sends notifications to the client while its request is served. */
export interface Notify {
  readonly progress: (done: number, total?: number, message?: string) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
  /** Takes the parts of streams. Undefined if the client wants none. */
  readonly parts?: PartSink | undefined;
}

/** A question whose answer a page brings. */
interface Mail {
  readonly key: string;
  readonly digest: string;
  readonly asked: number;
}

/** Why a call pauses. */
export interface Pausing {
  /** The way of each question. */
  readonly ways: Readonly<Record<string, Way>>;
  /** When the first time limit passes, in milliseconds since 1970. */
  readonly dueAt?: number | undefined;
  /** The questions that have a page, and how many times each has been asked. */
  readonly mail?: readonly Mail[] | undefined;
}

/** How a round ends. */
export type RoundResponse =
  | { readonly kind: "complete"; readonly result: WireResult }
  | {
      readonly kind: "input_required";
      readonly result: InputRequired;
      /** The id of the call, for the log. */
      readonly call?: string | undefined;
      /** Set if no `requestState` can travel with any of the questions. */
      readonly pausing?: Pausing | undefined;
    }
  /** The call has become a task. */
  | {
      readonly kind: "task";
      readonly task: TaskSnapshot;
      /** The ways of its questions. */
      readonly ways?: OpenWays | undefined;
    }
  | {
      readonly kind: "error";
      readonly code: number;
      readonly message: string;
      /** Any JSON value. */
      readonly data?: unknown;
      /** What was thrown, for the test kit. It is never sent. */
      readonly cause?: unknown;
    }
  /** The client has cancelled or gone, so no response is sent. */
  | { readonly kind: "none" };
