// @modelcontextprotocol/ext-tasks, typed by hand, because its own declarations do not compile without `skipLibCheck`.

import type { Client } from "@modelcontextprotocol/client";

interface Schema {
  readonly parse: (value: unknown) => unknown;
}

/** A schema of an object, which can be made strict about unknown members. */
interface ObjectSchema extends Schema {
  readonly strict: () => Schema;
}

export type InputRequest =
  | {
      readonly kind: "elicitation" | "sampling";
      readonly params: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "roots" };

export interface InputContext {
  readonly delivery: "peer-request" | "request-retry" | "task-update";
}

export type Dispatched =
  | { readonly kind: "result"; readonly result: unknown }
  | { readonly kind: "error"; readonly error: { readonly code: number; readonly message: string } };

export interface DispatchOptions {
  readonly signal?: AbortSignal;
  readonly context?: { readonly headers?: Record<string, string> };
}

type Outcome =
  | { readonly status: "completed"; readonly result: unknown }
  | { readonly status: "failed"; readonly error: Error }
  | { readonly status: "cancelled" };

interface Event {
  readonly type: "task" | "outcome";
  readonly task?: { readonly status: string };
}

interface Execution {
  readonly kind: "immediate" | "task";
  readonly handle?: { readonly taskId: string };
  readonly settle: (options?: {
    readonly onEvent: (event: Event) => void;
  }) => Promise<{ readonly outcome: Outcome }>;
  readonly cancel: () => Promise<void>;
  readonly detach: () => Promise<void>;
  readonly serializeReference: () => object;
}

export interface Session {
  readonly callTool: (name: string, args: object) => Promise<Execution>;
  readonly resumeTask: (reference: object) => Promise<Execution>;
  readonly close: () => Promise<void>;
}

interface ClientSide {
  readonly createTaskSessionFromClient: (
    client: Client,
    options: {
      readonly endpointId: string;
      readonly rawDispatch: (request: object, options?: DispatchOptions) => Promise<Dispatched>;
      readonly v2RequestFraming: {
        readonly protocolVersion: string;
        readonly clientInfo: object;
        readonly clientCapabilities: object;
      };
      readonly onInputRequest: (request: InputRequest, context: InputContext) => Promise<object>;
    },
  ) => Session;
}

interface Schemas {
  readonly CallToolResultV2Schema: Schema;
  readonly CancelTaskResultV2Schema: Schema;
  readonly CreateTaskResultV2Schema: ObjectSchema;
  readonly GetTaskResultV2Schema: Schema;
  readonly InputRequiredCallToolResultV2Schema: Schema;
  readonly TaskStatusNotificationV2Schema: Schema;
  readonly TaskSubscriptionAcknowledgedNotificationsV2Schema: ObjectSchema;
  readonly ToolV2Schema: Schema;
  readonly UpdateTaskResultV2Schema: Schema;
}

// A variable, because the compiler would resolve a literal.
const name: string = "@modelcontextprotocol/ext-tasks";
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as its own declarations have it, as far as it is used
export const { createTaskSessionFromClient } = (await import(`${name}/client`)) as ClientSide;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
export const schemas = (await import(`${name}/core/v2`)) as Schemas;
