// A tool: its configuration, and what its handler may return.

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
import type { Definition, TaskMode } from "./definition.ts";
import { reasonOf } from "../forms/issues.ts";
import type { InputRequiredResult } from "../context/low-level.ts";
import type { InputOf, Schema } from "../forms/schema.ts";

/** The SDK's `registerTool` config, plus `task` and `once`. */
export interface ToolConfig<In, Out, T extends TaskMode | undefined = TaskMode | undefined> {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: In | undefined;
  readonly outputSchema?: Out | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly icons?: Icon[] | undefined;
  readonly scopeChallenge?: ScopeChallengeHandler | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
  /** May become a task. Gives the handler `background`, `sleep` and `waitFor`; needs a store. "required": -32021 for a client that cannot follow one. */
  readonly task?: T | undefined;
  /** A repeated round gets the recorded response, never a second execution. Needs a store. */
  readonly once?: boolean | undefined;
}

/** A tool without `task` in its config: the names are there so that the error can say what is missing. */
export interface ToolContext extends Context {
  readonly background: Missing<"task: 'optional' in this tool's config">;
  readonly sleep: Missing<"task: 'optional' in this tool's config">;
  readonly waitFor: Missing<"task: 'optional' in this tool's config">;
}
interface Missing<What extends string> {
  readonly "~add": What;
}

type ContextFor<T> = [T] extends [TaskMode] ? TaskContext : ToolContext;

/** Text, or a full result; with an `outputSchema` the structured content itself, or a full result. (Only the last part may be conditional: else `type: "text"` widens.) */
type ToolReturn<Out> =
  | FullResult
  | InputRequiredResult
  | (Out extends Schema ? InputOf<Out> : string);

/** The SDK's CallToolResult without its index signature, for readable errors. */
export interface FullResult {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean | undefined;
  _meta?: Record<string, unknown> | undefined;
}

/** A registered tool: what the test kit plays, and types the arguments and the result of. */
export interface Tool<In = unknown, Out = unknown> {
  readonly kind: "tool";
  readonly name: string;
  readonly "~types"?: { readonly in: In; readonly out: Out };
}

export type ToolHandler<In, Out, T> = (
  ...args: HandlerArgs<In, ContextFor<T>>
) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

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
    `Tool "${name}" returned ${described(returned)}. Without an outputSchema it returns a text or a full result ({ content: […] }).`,
  );
}

/** An object with `structuredContent` or `isError: true` is a full result, every other one the structured content. */
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
    throw badResult(`Tool "${name}" has an outputSchema that is not an object.`);
  }
  if (isFull) return { ...returned, structuredContent };
  // Clients that do not know structured content read the text.
  return {
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
  };
}

const badResult = (message: string) => new ParleyError("bad_result", message);

function isFullResult(value: unknown): value is FullResult {
  return isObject(value) && "content" in value && Array.isArray(value.content);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function described(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return isObject(value) ? "an object" : `a ${typeof value}`;
}
