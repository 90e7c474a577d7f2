// A tool: its configuration, its handler, and how what the handler returns becomes a result.

import type {
  ContentBlock,
  Icon,
  ScopeChallengeHandler,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { isObject } from "../../util/objects.ts";
import { callWith, checkSchema, parseArguments } from "./arguments.ts";
import { checkHandler } from "./check-handler.ts";
import type { Missing } from "./missing.ts";
import type { HandlerArgs } from "./arguments.ts";
import { badResult, checkedResult, resultJson } from "./checked-result.ts";
import type { Context, TaskContext, UndoableStep } from "../context/context.ts";
import type { StepInfo, StepOptions } from "../../replay/operations.ts";
import { isExtensionId } from "../../protocol/capabilities.ts";
import type { ExtensionId } from "../../protocol/capabilities.ts";
import { isRequirable, requirableWords } from "./abilities.ts";
import type { RequiredAbility } from "./abilities.ts";
import type { Definition, HandleTypes, TaskMode, WireResult } from "./definition.ts";
import type { Question } from "../../replay/promises.ts";
import type { Approval, ApproveOptions } from "../approvals/approval-options.ts";
import { toolRule } from "../approvals/tool-rule.ts";
import type { ToolApproval } from "../approvals/tool-rule.ts";
import { reasonOf } from "../forms/issues.ts";
import type { InputRequiredResult } from "../context/low-level.ts";
import type { InputOf, Schema, Stored } from "../forms/schema.ts";

/** The configuration of a tool: that of the SDK's `registerTool`, with `task` and `once`. */
export interface ToolConfig<
  In,
  Out,
  T extends TaskMode | undefined = TaskMode | undefined,
  O extends boolean | undefined = boolean | undefined,
> {
  /** A name to show to people. Default: the tool's name. */
  readonly title?: string | undefined;
  /** What the tool does, for the model that calls it. */
  readonly description?: string | undefined;
  /** The schema of the arguments. It is applied in every round, so it must depend on the arguments alone. Without it the handler gets `ctx` alone. */
  readonly inputSchema?: In | undefined;
  /**
   * The schema of the structured result: any JSON value. With it the handler returns that value instead of text. Clients of
   * 2025-11-25, where only objects are allowed, get any other value as `{ result: value }`.
   */
  readonly outputSchema?: Out | undefined;
  /** Hints for clients, such as `readOnlyHint`. */
  readonly annotations?: ToolAnnotations | undefined;
  /** Icons to show to people. */
  readonly icons?: Icon[] | undefined;
  /** The scopes that a caller needs, as the SDK defines them. */
  readonly scopeChallenge?: ScopeChallengeHandler | undefined;
  /** Metadata that is sent with the tool in the list. */
  readonly _meta?: Record<string, unknown> | undefined;
  /**
   * Whether a call may become a task. The handler then has `ctx.background`, `ctx.sleep` and `ctx.waitFor`, and the app needs
   * a store. With "required", clients that cannot follow a task get error -32021. Default: calls never become tasks.
   */
  readonly task?: T | undefined;
  /**
   * Runs each round once, even if its request is sent twice: the second request waits for the first run and gets the same
   * response. So a run goes on if its client hangs up. Needs a store. Default: false.
   */
  readonly once?: O | undefined;
  /**
   * With "form", hosts that render MCP Apps show this tool's questions as a form inside the conversation. It is for hosts
   * that can show neither forms nor pages by themselves. Needs a store. Default: no App.
   *
   * @example
   * ```ts
   * app.tool("resolve_bug", { description: "Resolve a bug", ui: "form" }, async (ctx) => {
   *   const how = await ctx.choose("how", "How was it resolved?", ["Fixed", "Duplicate"]);
   *   return `Closed as ${how}`;
   * });
   * ```
   */
  readonly ui?: "form" | undefined;
  /**
   * Asked before the handler runs. A refusal ends the call. The short form is a function that returns the message, or undefined
   * if this call needs no approval: then the caller decides. With `by`, members of a group decide. Default: nothing is asked.
   *
   * @example
   * ```ts
   * app.tool("delete_repo", { inputSchema: Repo, approve: ({ name }) => `Delete ${name}?` }, ({ name }, ctx) =>
   *   ctx.step("delete", () => git.delete(name)),
   * );
   * ```
   */
  readonly approve?: ToolApproval<In, T> | undefined;
  /**
   * What the client must support. A call of any other client gets error -32021 before anything runs, with the capabilities to
   * declare. Default: nothing.
   */
  readonly requires?: readonly (RequiredAbility | ExtensionId)[] | undefined;
}

/** What a tool needs for the members that only a task has. */
export type NeedsTask = "task: 'optional' in this tool's config";
/** What a tool needs so that its steps can have an undo. */
export type NeedsOnce = "once: true, or task: 'optional', in this tool's config";

/** The members of `ctx` that need `task` in a tool's config. */
export interface WithoutTask {
  /** Needs `task: "optional"` in the tool's config. */
  readonly background: Missing<NeedsTask>;
  /** Needs `task: "optional"` in the tool's config. */
  readonly sleep: Missing<NeedsTask>;
  /** Needs `task: "optional"` in the tool's config. */
  readonly waitFor: Missing<NeedsTask>;
}

/** `ctx.approve` of a tool without `task`. */
export type ApproveByCaller = (
  key: string,
  message: string,
  options?: ApproveOptions & {
    /** Needs `task: "optional"` in the tool's config. */
    readonly by?: Missing<NeedsTask> | undefined;
  },
) => Question<Approval>;

/** What the handler of a tool without `task` and `once` in its config gets as `ctx`. The members that need one of them are typed so that the compiler says what to add. */
export interface ToolContext extends Context, WithoutTask {
  /** As in every `ctx`. For a group, `by`, add `task: "optional"` to the tool's config. */
  readonly approve: ApproveByCaller;
  /** As in every `ctx`. For an `undo`, add `once: true` or `task: "optional"` to the tool's config. */
  readonly step: <T>(
    key: string,
    body: (step: StepInfo) => T | Promise<T>,
    options?: StepOptions & {
      /** Needs `once: true` or `task: "optional"` in the tool's config. */
      readonly undo?: Missing<NeedsOnce> | undefined;
    },
  ) => Promise<Stored<T>>;
}

/** What the handler of a tool with `once: true` and without `task` in its config gets as `ctx`. */
export interface OnceContext extends Context, WithoutTask {
  /** As in every `ctx`. For a group, `by`, add `task: "optional"` to the tool's config. */
  readonly approve: ApproveByCaller;
  /** As in every `ctx`, and with an `undo`. */
  readonly step: UndoableStep;
}

/** The `ctx` of a tool with this `task` and this `once` in its config. */
export type ContextFor<T, O> = [T] extends [TaskMode]
  ? TaskContext
  : [O] extends [true]
    ? OnceContext
    : ToolContext;

// Only the last part may be conditional, because otherwise `type: "text"` in a full result widens to `string`.
/** What the handler of a tool returns: text or a full result. With an `outputSchema`, the structured content or a full result. */
export type ToolReturn<Out> =
  | FullResult
  | InputRequiredResult
  | (Out extends Schema ? InputOf<Out> : string);

/** A full result of a tool: the SDK's `CallToolResult` without its index signature, which gives readable compiler errors. */
export interface FullResult {
  /** What the model reads: text, images and other blocks. */
  content: ContentBlock[];
  /** The structured content, which the `outputSchema` checks. */
  structuredContent?: unknown;
  /** True if the call failed. Default: false. */
  isError?: boolean | undefined;
  /** Metadata that is sent with the result. */
  _meta?: Record<string, unknown> | undefined;
}

/** A registered tool. Pass it to `play` and `crashTest` of the test kit, which take the types of its arguments and result from it. */
export interface Tool<In = unknown, Out = unknown> {
  /** Tells a tool from a prompt and a resource. */
  readonly kind: "tool";
  /** The name it is registered under. */
  readonly name: string;
  /** For TypeScript only. It is never set. */
  readonly "~types"?: HandleTypes<In, Out>;
}

/** The handler of a tool. It runs from its beginning in each round, so effects belong in `ctx.step`. */
export type ToolHandler<In, Out, T, O> = (
  ...args: HandlerArgs<In, ContextFor<T, O>>
) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

/** The definition behind `app.tool`. */
export function defineTool<
  In extends Schema | undefined,
  Out extends Schema | undefined,
  T extends TaskMode | undefined,
  O extends boolean | undefined,
>(
  name: string,
  config: ToolConfig<In, Out, T, O>,
  handler: ToolHandler<In, Out, T, O>,
): Definition {
  checkHandler(`app.tool("${name}")`, handler);
  const { inputSchema, outputSchema, task, once, ui, requires, approve } = config;
  checkUi(name, ui);
  for (const ability of requires ?? []) checkAbility(name, ability);
  checkSchema(`Tool "${name}"`, "inputSchema", inputSchema, "input");
  checkSchema(`Tool "${name}"`, "outputSchema", outputSchema, "output");
  return {
    method: "tools/call",
    name,
    task,
    once,
    ui,
    requires,
    approval: approve && toolRule(name, approve, inputSchema !== undefined, task),
    hasOutput: outputSchema !== undefined,
    parse: (_target, args) => parseArguments(inputSchema, args),
    invoke: callWith(handler, inputSchema),
    toResult: (returned) =>
      outputSchema === undefined
        ? textResult(name, returned)
        : structuredResult(name, outputSchema, returned),
    toFailure: (message) => ({ content: [{ type: "text", text: message }], isError: true }),
  };
}

/** For JavaScript authors. A word that no client offers would refuse every call. */
function checkAbility(name: string, ability: string): void {
  if (isRequirable(ability) || isExtensionId(ability)) return;
  throw new TypeError(
    `Tool "${name}" requires "${ability}", which is not known. Use ${requirableWords}, or the id of an extension, such as io.example/ext.`,
  );
}

/** Likewise for JavaScript authors. */
function checkUi(name: string, ui: string | undefined): void {
  if (ui === undefined || ui === "form") return;
  throw new TypeError(
    `Tool "${name}" has ui: ${JSON.stringify(ui)}, which is not known. Use "form".`,
  );
}

function textResult(name: string, returned: unknown): WireResult {
  if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
  if (isFullResult(returned)) return fullResult(name, returned);
  throw badResult(
    `Tool "${name}" returned ${described(returned)}. Without an outputSchema, return a string or a full result, { content: […] }.`,
  );
}

const fullResult = (name: string, returned: WireResult) =>
  checkedResult(`Tool "${name}"`, "CallToolResult", returned);

/** A result with `structuredContent` or `isError: true` is a full result. Everything else is the structured content. */
async function structuredResult(
  name: string,
  schema: Schema,
  returned: unknown,
): Promise<WireResult> {
  if (isFullResult(returned) && returned.isError === true) return fullResult(name, returned);
  const isFull = isFullResult(returned) && returned.structuredContent !== undefined;
  const result = await schema["~standard"].validate(isFull ? returned.structuredContent : returned);
  if (result.issues !== undefined) {
    throw badResult(
      `Tool "${name}" returned a result that does not fit its outputSchema: ${reasonOf(result.issues)}.`,
    );
  }
  // Any JSON value may be structured content. In 2025-11-25 it has to be an object, and the SDK wraps any other value.
  if (isFull) return fullResult(name, { ...returned, structuredContent: result.value });
  const structuredContent = resultJson(`Tool "${name}"`, result.value);
  // The text is for clients that do not know structured content.
  return {
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
  };
}

function isFullResult(value: unknown): value is FullResult & WireResult {
  return isObject(value) && Array.isArray(value["content"]);
}

function described(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
