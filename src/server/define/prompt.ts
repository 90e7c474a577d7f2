// A prompt: as a tool, but that it gives messages.

import type { GetPromptResult, Icon, ScopeChallengeHandler } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { callWith, checkSchema, parseArguments } from "./arguments.ts";
import type { HandlerArgs } from "./arguments.ts";
import type { Context } from "../context/context.ts";
import type { Definition, WireResult } from "./definition.ts";
import type { InputRequiredResult } from "../context/low-level.ts";
import type { Schema } from "../forms/schema.ts";

export interface PromptConfig<In> {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly argsSchema?: In | undefined;
  readonly icons?: Icon[] | undefined;
  readonly scopeChallenge?: ScopeChallengeHandler | undefined;
  readonly _meta?: Record<string, unknown> | undefined;
}

export interface Prompt<In = unknown> {
  readonly kind: "prompt";
  readonly name: string;
  readonly "~types"?: { readonly in: In };
}

type PromptReturn = string | GetPromptResult | InputRequiredResult;
export type PromptHandler<In> = (
  ...args: HandlerArgs<In, Context>
) => PromptReturn | Promise<PromptReturn>;

export function definePrompt<In extends Schema | undefined>(
  name: string,
  { argsSchema }: PromptConfig<In>,
  handler: PromptHandler<In>,
): Definition {
  checkSchema(`Prompt "${name}"`, "argsSchema", argsSchema);
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
  if (typeof returned === "object" && returned !== null && "messages" in returned) {
    return { ...returned };
  }
  throw new ParleyError(
    "bad_result",
    `Prompt "${name}" returned neither a text nor a result with messages.`,
  );
}
