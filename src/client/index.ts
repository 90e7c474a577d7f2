// "mcp-parley/client": calls that run to their result, through questions, tasks and crashes.

// connections
export { connect } from "./connect.ts";
export type { CallOptions, Connection, ConnectOptions, UnfinishedCall } from "./connection.ts";
export type { ConnectTarget, HttpAccess, ServedApp, ServerCommand } from "./target.ts";
export type { ClientJournal } from "./journal.ts";
export type { ClientLimits } from "./limits.ts";
export type { Drafts } from "../protocol/draft-plug-in.ts";
export type { Era } from "../protocol/versions.ts";

// calls
export type { Call } from "./call.ts";
export type { CallEvent } from "./events.ts";
export type { Part } from "./part.ts";
export type { CallResult } from "./result.ts";
export { outcomes } from "./outcome.ts";
export type { CallOutcome } from "./outcome.ts";

// questions
export type { FormAnswer, QuestionContext, QuestionHandlers } from "./answerers.ts";
export type {
  FormQuestion,
  OpenQuestion,
  RootsQuestion,
  SamplingQuestion,
  UrlQuestion,
} from "./question.ts";
export type { FormField, FormFormat, FormJson, TitledChoice } from "../protocol/form.ts";

// errors
export { CallError } from "./errors.ts";
export type { CallErrorCode, CallErrorDetails } from "./errors.ts";
export type { RpcError } from "../protocol/rpc.ts";

// for the official client
export { withTasks } from "./with-tasks/with-tasks.ts";
export { TaskLeftError } from "./with-tasks/options.ts";
export type { WithTasksOptions } from "./with-tasks/options.ts";
