// "mcp-parley": the public list. A name here is a promise.

// the app
export { parley } from "./server/parley.ts";
export type { App, ParleyOptions } from "./server/app.ts";
export type { Drafts } from "./protocol/drafts.ts";
export type { Logger } from "./server/ops/logger.ts";
export type { Listening, ListenOptions } from "./server/http/listen.ts";
export type { Health, TaskHealth } from "./server/ops/health.ts";
export type { WorkOptions } from "./server/tasks/work.ts";
export type { Prompt } from "./server/define/prompt.ts";
export type { Resource } from "./server/define/resource.ts";
export type { FullResult, Tool, ToolConfig, ToolContext } from "./server/define/tool.ts";

// what a handler has
export type {
  Context,
  QuestionOptions,
  Sample,
  SampleParams,
  TaskContext,
} from "./server/context/context.ts";
export type { Question } from "./replay/promises.ts";
export type { BackgroundOptions, StepInfo, StepOptions } from "./replay/operations.ts";

// tasks; the stores that outlive a process are mcp-parley/sqlite and mcp-parley/postgres
export { memoryStore } from "./tasks/stores/memory.ts";
export type { Store } from "./tasks/store.ts";
export type { TaskMode } from "./server/define/definition.ts";

// the low-level form
export { inputRequired } from "./server/context/low-level.ts";
export type { InputRequiredResult } from "./server/context/low-level.ts";

// schemas
export type {
  AnswerOf,
  FormField,
  FormJson,
  InputOf,
  Json,
  OutputOf,
  Schema,
  Stored,
} from "./server/forms/schema.ts";

// errors
export { ParleyError, StepError, Unanswered, UnansweredError } from "./errors.ts";
export type { ParleyErrorCode, UnansweredReason } from "./errors.ts";
