// "mcp-parley": the public list. A name here is a promise.

// the app
export { parley } from "./server/app.ts";
export type { App, ParleyOptions } from "./server/app.ts";
export type { Logger } from "./server/logger.ts";
export type { Listening, ListenOptions } from "./server/listen.ts";
export type { Health, TaskHealth } from "./server/health.ts";
export type { WorkOptions } from "./server/work.ts";
export type { Prompt } from "./server/prompt.ts";
export type { Resource } from "./server/resource.ts";
export type { FullResult, Tool, ToolConfig, ToolContext } from "./server/tool.ts";

// what a handler has
export type { Context, TaskContext } from "./server/context.ts";
export type { QuestionOptions, Sample, SampleParams } from "./server/questions.ts";
export type { Question } from "./replay/handed.ts";
export type { BackgroundOptions, StepInfo, StepOptions } from "./replay/hooks.ts";

// tasks; the stores that outlive a process are mcp-parley/sqlite and mcp-parley/postgres
export { memoryStore } from "./tasks/stores/memory.ts";
export type { Store } from "./tasks/store.ts";
export type { TaskMode } from "./server/definition.ts";

// the low-level form
export { inputRequired } from "./server/low-level.ts";
export type { InputRequiredResult } from "./server/low-level.ts";

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
} from "./server/schema.ts";

// errors
export { ParleyError, StepError, Unanswered } from "./errors.ts";
export type { ParleyErrorCode, UnansweredReason } from "./errors.ts";
