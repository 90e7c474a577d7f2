// What `ctx` needs to know of the call that it belongs to.

import type { InputResponses, LoggingLevel } from "@modelcontextprotocol/server";
import type { ParleyError } from "../../errors.ts";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import type { Era } from "../../protocol/versions.ts";
import type { Ticket } from "../../token/ticket.ts";
import type { Accounts } from "../accounts/account.ts";
import type { Json } from "../forms/schema.ts";
import type { Privacy, Way } from "../round/ways.ts";
import type { RequestFacts } from "./context.ts";
import type { StepObserver } from "./observed-body.ts";
import type { PartSink } from "./part-sink.ts";

/** What one round, or one run of a task, knows of its call. */
export interface CallFacts {
  /** The name of the tool, prompt or resource. */
  readonly name: string;
  readonly callId: string;
  readonly principal: string | undefined;
  readonly era: Era;
  /** The request of this round. Undefined in a task. */
  readonly request: RequestFacts | undefined;
  readonly task: { readonly id: string } | undefined;
  readonly can: (ability: Ability | ExtensionId) => boolean;
  /** The way of a question that may be shown as a form. Undefined if there is none. */
  readonly way: (privacy: Privacy) => Way | undefined;
  /** Whether the app has a public address for pages. */
  readonly hasPages: () => boolean;
  /** Undefined without connections. */
  readonly accounts: Accounts | undefined;
  /** Notes a token that this run must not record. */
  readonly handOut: (token: string, provider: string) => void;
  /** The address of the page of a ticket. Undefined without a public address. */
  readonly pageAddress: (ticket: string) => string | undefined;
  /** Seals a reference to one question of this call. With a digest, it is good for this wording alone. */
  readonly ticket: (
    kind: Ticket["kind"],
    key: string,
    timeoutMs: number | undefined,
    digest?: string,
  ) => string;
  readonly wait: (ms: number) => Promise<void>;
  readonly now: () => number;
  readonly progress: (done: number, total?: number, message?: string) => void;
  readonly log: (level: LoggingLevel, data: unknown) => void;
  /** Takes the parts of streams. Undefined where nothing listens. */
  readonly parts: PartSink | undefined;
  /** Reports a schema that threw instead of returning issues, or a delivered value that does not fit. */
  readonly onSchemaError: (key: string, error: unknown) => void;
  /** The answers of the low-level form. */
  readonly answers: () => InputResponses;
  /** The state of the low-level form. */
  readonly state: () => Json | undefined;
  /** The tool's config has `task`. */
  readonly mayBecomeTask: boolean;
  /** Called for each `background()`, replayed or not. */
  readonly onBackground: () => void;
  readonly stepObserver: StepObserver | undefined;
  /** Why a step of this call cannot have this undo. Undefined if it can. */
  readonly objectionToUndo: (step: string, undo: unknown) => ParleyError | undefined;
  /** Resolves when the store shows that this call waits for this question. Rejects if the run ends first. */
  readonly published: (key: string, signal: AbortSignal) => Promise<void>;
  /** The handler drives its rounds itself, and has begun to. */
  readonly hasBegunByHand: boolean;
  /** Whether the store can keep what members of a group decide. */
  readonly keepsDecisions: () => boolean;
  /** Runs the body of a step in a span of its own. Undefined if nothing is traced. */
  readonly stepTrace: StepObserver["runBody"] | undefined;
}
