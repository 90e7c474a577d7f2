// A tool: its configuration, its handler, and how what the handler returns becomes a result.

import type {
  CallToolResult,
  ContentBlock,
  Icon,
  ScopeChallengeHandler,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { callWith, checkSchema, parseArguments, checkHandler } from "./arguments.ts";
import type { HandlerArgs } from "./arguments.ts";
import type { Context, TaskContext } from "../context/context.ts";
import type { Definition, HandleTypes, TaskMode } from "./definition.ts";
import { reasonOf } from "../forms/issues.ts";
import type { InputRequiredResult } from "../context/low-level.ts";
import type { InputOf, Schema } from "../forms/schema.ts";

/** The configuration of a tool: that of the SDK's `registerTool`, with `task` and `once`. */
export interface ToolConfig<In, Out, T extends TaskMode | undefined = TaskMode | undefined> {
  /** A name to show to people. Default: the tool's name. */
  readonly title?: string | undefined;
  /** What the tool does, for the model that calls it. */
  readonly description?: string | undefined;
  /** The schema of the arguments. It is applied in every round, so it must depend on the arguments alone. Without it the handler gets `ctx` alone. */
  readonly inputSchema?: In | undefined;
  /** The schema of the structured result: an object. With it the handler returns that object instead of text. */
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
  /** Runs each round once, even if its request is sent twice: the second request gets the recorded response. Needs a store. Default: false. */
  readonly once?: boolean | undefined;
}

/** What the handler of a tool without `task` in its config gets as `ctx`. The members that need `task` are typed so that the compiler says what to add. */
export interface ToolContext extends Context {
  /** Needs `task: "optional"` in the tool's config. */
  readonly background: Missing<"task: 'optional' in this tool's config">;
  /** Needs `task: "optional"` in the tool's config. */
  readonly sleep: Missing<"task: 'optional' in this tool's config">;
  /** Needs `task: "optional"` in the tool's config. */
  readonly waitFor: Missing<"task: 'optional' in this tool's config">;
}

/** The type of a member that this handler cannot use. It cannot be called, and the error names what to add. */
export interface Missing<What extends string> {
  /** What to add. */
  readonly "~add": What;
}

/** The `ctx` of a tool with this `task` in its config. */
export type ContextFor<T> = [T] extends [TaskMode] ? TaskContext : ToolContext;

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
export type ToolHandler<In, Out, T> = (
  ...args: HandlerArgs<In, ContextFor<T>>
) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

/** The definition behind `app.tool`. */
export function defineTool<
  In extends Schema | undefined,
  Out extends Schema | undefined,
  T extends TaskMode | undefined,
>(name: string, config: ToolConfig<In, Out, T>, handler: ToolHandler<In, Out, T>): Definition {
  checkHandler(`app.tool("${name}")`, handler);
  const { inputSchema, outputSchema, task, once } = config;
  checkSchema(`Tool "${name}"`, "inputSchema", inputSchema);
  checkSchema(`Tool "${name}"`, "outputSchema", outputSchema);
  return {
    method: "tools/call",
    name,
    task,
    once,
    parse: (_target, args) => parseArguments(inputSchema, args),
    invoke: callWith(handler, inputSchema),
    toResult: (returned) =>
      outputSchema === undefined
        ? textResult(name, returned)
        : structuredResult(name, outputSchema, returned),
    toFailure: (message) => ({ content: [{ type: "text", text: message }], isError: true }),
  };
}

type ToolResult = CallToolResult & { [member: string]: unknown };

function textResult(name: string, returned: unknown): ToolResult {
  if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
  if (isFullResult(returned)) return { ...returned };
  throw badResult(
    `Tool "${name}" returned ${described(returned)}. Without an outputSchema, return a string or a full result, { content: […] }.`,
  );
}

/** A result with `structuredContent` or `isError: true` is a full result. Any other object is the structured content. */
async function structuredResult(
  name: string,
  schema: Schema,
  returned: unknown,
): Promise<ToolResult> {
  if (isFullResult(returned) && returned.isError === true) return { ...returned };
  const isFull = isFullResult(returned) && returned.structuredContent !== undefined;
  const result = await schema["~standard"].validate(isFull ? returned.structuredContent : returned);
  if (result.issues !== undefined) {
    throw badResult(
      `Tool "${name}" returned a result that does not fit its outputSchema: ${reasonOf(result.issues)}.`,
    );
  }
  const structuredContent = isObject(result.value) ? { ...result.value } : undefined;
  if (structuredContent === undefined) {
    throw badResult(
      `Tool "${name}" has an outputSchema that does not describe an object. Use an object schema.`,
    );
  }
  if (isFull) return { ...returned, structuredContent };
  // The text is for clients that do not know structured content.
  return {
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
  };
}

const badResult = (message: string) => new ParleyError("bad_result", message);

function isFullResult(value: unknown): value is FullResult {
  return isObject(value) && "content" in value && Array.isArray(value.content);
}

// Arrays count as well, so util's `isObject` does not fit.
const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function described(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return isObject(value) ? "an object" : `a ${typeof value}`;
}
