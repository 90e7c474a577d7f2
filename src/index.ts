// The entry `mcp-parley`: everything a server needs. Each name here is part of the public API, so the lists are explicit.

// The app
export { parley } from "./server/parley.ts";
export type { App, AuthOptions, CommonOptions, ParleyOptions } from "./server/app.ts";
export type { AuthConfig } from "./server/http/resource-metadata.ts";
export type { Limits } from "./server/limits.ts";
export type { PrincipalOf } from "./server/round/principal.ts";
export type { Drafts } from "./protocol/draft-plug-in.ts";
export type { Listening, ListenOptions } from "./server/http/listen.ts";
export type { NodeRequest } from "./server/http/node.ts";
export type { AttachOptions } from "./server/sdk/adopt.ts";
export type { Verified } from "./server/http/web.ts";
export type { Logger, LogLine } from "./server/ops/logger.ts";
export type { Health, TaskHealth } from "./server/ops/health.ts";
export type { HostContext } from "./server/tasks/after-response.ts";
export type { RunDueOptions, WorkOptions } from "./server/tasks/task-engine.ts";
export type { RunDueResult } from "./tasks/due-run.ts";

// Tools, prompts and resources
export type { HandlerArgs } from "./server/define/arguments.ts";
export type { RequiredAbility } from "./server/define/abilities.ts";
export type { HandleTypes, TaskMode } from "./server/define/definition.ts";
export type { ExtensionId } from "./protocol/capabilities.ts";
export type { Era } from "./protocol/versions.ts";
export type { Prompt, PromptConfig, PromptHandler, PromptReturn } from "./server/define/prompt.ts";
export type {
  ListedResource,
  Resource,
  ResourceArgs,
  ResourceConfig,
  ResourceHandler,
  ResourceReturn,
  TemplateNames,
  VariableNames,
} from "./server/define/resource.ts";
export type { Missing } from "./server/define/missing.ts";
export type {
  ApproveByCaller,
  ContextFor,
  FullResult,
  NeedsOnce,
  NeedsTask,
  OnceContext,
  Tool,
  ToolConfig,
  ToolContext,
  ToolHandler,
  ToolReturn,
  WithoutTask,
} from "./server/define/tool.ts";

// What a handler gets
export type {
  Context,
  RequestFacts,
  Sample,
  SampleParams,
  TaskContext,
  UndoableStep,
  TaskRef,
} from "./server/context/context.ts";
export type {
  CheckpointOptions,
  Choice,
  ConfirmOptions,
  ElicitOutcome,
  ElicitParams,
  QuestionOptions,
  QuestionPrivacy,
  TimeLimit,
} from "./server/context/question-options.ts";
export type {
  Approval,
  ApproveOptions,
  GroupApproveOptions,
} from "./server/approvals/approval-options.ts";
export type {
  BlockStream,
  BodyOf,
  StreamOptions,
  TextStream,
} from "./server/context/stream-types.ts";
export type { Account, ConnectOptions, Provider } from "./server/accounts/account.ts";
export type { Question } from "./replay/promises.ts";
export type { BackgroundOptions, StepInfo, StepOptions } from "./replay/operations.ts";
export type { Undo, UndoFor } from "./server/define/undo.ts";
export type { UndoInfo } from "./tasks/program.ts";

// Handlers that drive the rounds themselves
export { inputRequired } from "./server/context/low-level.ts";
export type {
  ElicitUrlParams,
  InputRequiredMaker,
  InputRequiredResult,
  InputRequiredSpec,
} from "./server/context/low-level.ts";
export type {
  FormInputRequest,
  InputRequest,
  RootsInputRequest,
  SamplingInputRequest,
  UrlInputRequest,
} from "./protocol/input-required.ts";

// Tasks. Stores that outlive the process are in `mcp-parley/sqlite` and `mcp-parley/postgres`.
export { memoryStore, workerStore } from "./server/worker-store.ts";
export type { Store } from "./tasks/store.ts";
export type { OpenUrl, PageOptions, PageUrl, WaitOptions } from "./server/context/wait-options.ts";
export type { Notice } from "./server/context/notice.ts";
export type { WebHandler } from "./server/http/web-handler.ts";
export type { Routes } from "./server/http/routes.ts";
export type { Via, Way } from "./server/round/ways.ts";
export type {
  AuditAction,
  AuditOptions,
  AuditRecord,
  AuditSink,
} from "./server/audit/audit-record.ts";
export type { About } from "./server/pages/page-question.ts";
export type { ChangedApproval, DecideInput, DecideResult } from "./server/approvals/decide.ts";
export type { ApprovalRule, Caller, Gate, GatedCall } from "./server/approvals/rules.ts";
export type { ToolApproval } from "./server/approvals/tool-rule.ts";
export type { TicketFacts } from "./server/pages/ticket-facts.ts";
export type { DeliverResult } from "./server/pages/tickets.ts";
export type { PagesOptions, Visitor } from "./server/pages/visitors.ts";

// Schemas
export type { FormFormat, TitledChoice } from "./protocol/form.ts";
export type {
  AnswerOf,
  Askable,
  AskableInput,
  BadField,
  FieldValue,
  Flat,
  FormField,
  FormJson,
  FormValue,
  InputOf,
  IsField,
  ItemValue,
  Json,
  Lost,
  NotAskable,
  NotStored,
  Opaque,
  OutputOf,
  PresentFields,
  Schema,
  Stored,
} from "./server/forms/schema.ts";

// Errors
export {
  ParleyError,
  StepError,
  UnansweredError,
  /** @deprecated Use `UnansweredError`. */
  UnansweredError as Unanswered,
} from "./errors.ts";
export type { Decision, ParleyErrorCode, ThrownError, UnansweredReason } from "./errors.ts";
