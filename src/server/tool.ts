// A tool: its configuration, and what its handler may return.

import type {
  CallToolResult,
  ContentBlock,
  Icon,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../errors.ts";
import type { Context, HandlerContext } from "./context.ts";
import type { Definition, Parsed } from "./definition.ts";
import type { InputOf, OutputOf, Schema } from "./schema.ts";

/** The SDK's `registerTool` config. */
export interface ToolConfig<In, Out> {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: In | undefined;
  readonly outputSchema?: Out | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly icons?: Icon[] | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
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

/** As in the SDK: without a schema the handler gets `ctx` alone. */
type HandlerArgs<In, Ctx> = In extends Schema ? [args: OutputOf<In>, ctx: Ctx] : [ctx: Ctx];

/** Text, or a full result; with an `outputSchema` the structured content itself, or a full result. (Only the last part may be conditional: else `type: "text"` widens.) */
type ToolReturn<Out> = FullResult | (Out extends Schema ? InputOf<Out> : string);

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

export type ToolHandler<In, Out> = (
  ...args: HandlerArgs<In, ToolContext>
) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

export function defineTool<In extends Schema | undefined, Out extends Schema | undefined>(
  name: string,
  config: ToolConfig<In, Out>,
  handler: ToolHandler<In, Out>,
): Definition {
  const { inputSchema, outputSchema } = config;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its parameters are what invoke passes
  const call = handler as (...args: readonly unknown[]) => unknown;
  return {
    method: "tools/call",
    name,
    parse: (args) => parseArguments(inputSchema, args),
    invoke:
      inputSchema === undefined
        ? (_input, ctx: HandlerContext) => call(ctx)
        : (input, ctx: HandlerContext) => call(input, ctx),
    toResult: (returned) => toolResult(name, outputSchema, returned),
    toFailure: (message) => ({ content: [{ type: "text", text: message }], isError: true }),
  };
}

async function parseArguments(schema: Schema | undefined, args: unknown): Promise<Parsed> {
  if (schema === undefined) return { ok: true, input: undefined };
  const result = await schema["~standard"].validate(args ?? {});
  if (result.issues === undefined) return { ok: true, input: result.value };
  return { ok: false, reason: `Invalid arguments: ${listIssues(result.issues)}` };
}

/** With an `outputSchema`: an object with `structuredContent` or `isError: true` is a full result, every other one the structured content. */
async function toolResult(
  name: string,
  schema: Schema | undefined,
  returned: unknown,
): Promise<CallToolResult & { [member: string]: unknown }> {
  if (schema === undefined) {
    if (typeof returned === "string") return { content: [{ type: "text", text: returned }] };
    if (isFullResult(returned)) return { ...returned };
    throw badResult(
      `Tool "${name}" returned ${described(returned)}. Without an outputSchema it returns a text or a full result ({ content: […] }).`,
    );
  }
  if (isFullResult(returned) && returned.isError === true) return { ...returned };
  const isFull = isFullResult(returned) && returned.structuredContent !== undefined;
  const result = await schema["~standard"].validate(isFull ? returned.structuredContent : returned);
  if (result.issues !== undefined) {
    throw badResult(
      `Tool "${name}" returned a result that does not fit its outputSchema: ${listIssues(result.issues)}.`,
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

type Issue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

function listIssues(issues: readonly Issue[]): string {
  return issues
    .slice(0, 5)
    .map(({ message, path = [] }) => {
      const at = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
      return at === "" ? message : `${at}: ${message}`;
    })
    .join("; ");
}
