// A prompt: like a tool, but it returns messages.

import type { GetPromptResult, Icon, ScopeChallengeHandler } from "@modelcontextprotocol/server";
import { isObject } from "../../util/objects.ts";
import { callWith, checkSchema, parseArguments } from "./arguments.ts";
import type { HandlerArgs } from "./arguments.ts";
import { badResult, checkedResult } from "./checked-result.ts";
import type { Context } from "../context/context.ts";
import type { Definition, HandleTypes, WireResult } from "./definition.ts";
import type { InputRequiredResult } from "../context/low-level.ts";
import type { Schema } from "../forms/schema.ts";

/** The configuration of a prompt: that of the SDK's `registerPrompt`. */
export interface PromptConfig<In> {
  /** A name to show to people. Default: the prompt's name. */
  readonly title?: string | undefined;
  /** What the prompt is for. */
  readonly description?: string | undefined;
  /** The schema of the arguments: an object of strings. Without it the handler gets `ctx` alone. */
  readonly argsSchema?: In | undefined;
  /** Icons to show to people. */
  readonly icons?: Icon[] | undefined;
  /** The scopes that a caller needs, as the SDK defines them. */
  readonly scopeChallenge?: ScopeChallengeHandler | undefined;
  /** Metadata that is sent with the prompt in the list. */
  readonly _meta?: Record<string, unknown> | undefined;
}

/** A registered prompt. Pass it to `play` of the test kit. */
export interface Prompt<In = unknown> {
  /** Tells a prompt from a tool and a resource. */
  readonly kind: "prompt";
  /** The name it is registered under. */
  readonly name: string;
  /** For TypeScript only. It is never set. */
  readonly "~types"?: HandleTypes<In>;
}

/** What the handler of a prompt returns: text for one user message, or a whole result. */
export type PromptReturn = string | GetPromptResult | InputRequiredResult;

/** The handler of a prompt. */
export type PromptHandler<In> = (
  ...args: HandlerArgs<In, Context>
) => PromptReturn | Promise<PromptReturn>;

/** The definition behind `app.prompt`. */
export function definePrompt<In extends Schema | undefined>(
  name: string,
  { argsSchema }: PromptConfig<In>,
  handler: PromptHandler<In>,
): Definition {
  checkSchema(`Prompt "${name}"`, "argsSchema", argsSchema, "input");
  return {
    method: "prompts/get",
    name,
    parse: (_target, args) => parseArguments(argsSchema, args),
    invoke: callWith(handler, argsSchema),
    toResult: (returned) => promptResult(name, returned),
    toFailure: () => undefined,
  };
}

function promptResult(name: string, returned: unknown): WireResult {
  if (typeof returned === "string") {
    return { messages: [{ role: "user", content: { type: "text", text: returned } }] };
  }
  if (isObject(returned) && "messages" in returned) {
    return checkedResult(`Prompt "${name}"`, "GetPromptResult", returned);
  }
  throw badResult(
    `Prompt "${name}" returned neither a string nor a result with messages. Return one of these.`,
  );
}
