// What the code that drives a call (rounds, tasks, 2025-11-25 sessions) sees of the call and of its connection.

import type { LoggingLevel } from "@modelcontextprotocol/client";
import type { Era } from "../protocol/versions.ts";
import type { Answerers } from "./answerers.ts";
import type { CallQuestions } from "./call-questions.ts";
import type { CallStream } from "./call-stream.ts";
import type { CallEvent } from "./events.ts";
import type { ClientJournal } from "./journal.ts";
import type { LegacySession, TaskParams } from "./legacy-session.ts";
import type { Limits } from "./limits.ts";
import type { ParamHeaders } from "./param-headers.ts";
import type { QuestionNames } from "./question-names.ts";
import type { CallState } from "./reference.ts";
import type { RequestSender } from "./request-channel.ts";
import type { TaskSubscriptions } from "./task-subscriptions.ts";

/** What a connection provides to its calls. */
export interface CallServices {
  readonly channel: RequestSender;
  readonly subscriptions: TaskSubscriptions;
  readonly limits: Limits;
  readonly headers: ParamHeaders;
  /** Reads the server's list of tools again. */
  readonly listTools: () => Promise<void>;
  readonly answerers: Answerers;
  readonly journal: ClientJournal | undefined;
  /** The protocol version that the connection speaks. */
  readonly era: Era;
  readonly logLevel: LoggingLevel | undefined;
  /** True if the server sends what its tools stream. */
  readonly streams: boolean;
  /** Set in a 2025-11-25 session. */
  readonly legacy: LegacySession | undefined;
}

/** A call while it runs. */
export interface ActiveCall {
  readonly services: CallServices;
  readonly questions: CallQuestions;
  /** Aborts with the error that ends the call. */
  readonly signal: AbortSignal;
  readonly state: () => CallState;
  /** Changes the state. Resolves when the journal has it. */
  readonly move: (change: Partial<CallState>) => Promise<void>;
  readonly ref: () => string;
  readonly emit: (event: CallEvent) => void;
  /** Which log messages to ask for. Undefined if the application does not read events. */
  readonly logLevel: LoggingLevel | undefined;
  /** What the call streams. Undefined if the caller gets only the result. */
  readonly stream: CallStream | undefined;
  /** True while a person is being asked. Meanwhile, a server that sends nothing is not in trouble. */
  readonly isPaused: () => boolean;
  /** 2025-11-25: the names of the questions so far. */
  readonly names: QuestionNames;
  /** True if another process or an earlier connection started the call. */
  readonly isResumed: boolean;
  /** 2025-11-25: run the call as a task if the tool supports it. */
  readonly taskParams: TaskParams | undefined;
}
