// Plays a call with a script, and tells how it went.

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { InputRequired } from "../protocol/input-required.ts";
import { registeredAs } from "../server/app.ts";
import type { Tool } from "../server/tool.ts";
import { asked, responseTo } from "./script.ts";
import type { Asked, Script } from "./script.ts";
import { Table } from "./table.ts";
import type { Execution, Leg, Player, Served } from "./table.ts";
import { Transcript } from "./transcript.ts";

export type PlayOptions = Player;

export interface Played<D> {
  readonly result: CallToolResult;
  /** The text of the result's content. */
  readonly text: string;
  /** Its structured content. */
  readonly data: D;
  readonly isError: boolean;
  readonly rounds: number;
  readonly asked: readonly Asked[];
  /** How often the body of this step was executed. */
  readonly ran: (step: string) => number;
  /** How large the token was after each round that asked, in bytes. */
  readonly tokenBytes: readonly number[];
  /** The call as text, for a snapshot. */
  readonly transcript: string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a tool of any type
export type AnyTool = Tool<any, any>;
export type ArgsOf<H> = H extends Tool<infer In, infer _Out> ? In : never;
export type DataOf<H> = H extends Tool<infer _In, infer Out> ? Out : never;

/** Plays a call in this process. */
export async function play<H extends AnyTool>(
  handler: H,
  args: ArgsOf<H>,
  script: Script = {},
  options: PlayOptions = {},
): Promise<Played<DataOf<H>>> {
  const { core, definition } = registeredAs(handler);
  const table = new Table(core, definition, args, options);
  const transcript = new Transcript(definition.name, args);
  const questions: Asked[] = [];
  const executions: Execution[] = [];
  const tokenBytes: number[] = [];
  let leg: Leg = {};
  for (let round = 1; ; round += 1) {
    const served = await table.send(leg);
    executions.push(...served.executions);
    transcript.round(round, served);
    const result = resultOf(served);
    if (result !== undefined) {
      transcript.end(result);
      return {
        ...summary<DataOf<H>>(result),
        rounds: round,
        asked: questions,
        ran: (step) => executions.filter((execution) => execution.step === step).length,
        tokenBytes,
        transcript: transcript.text,
      };
    }
    const required = requiredOf(served);
    tokenBytes.push(required.requestState.length);
    const next = await answer(required, round, script, (question, response) => {
      questions.push(question);
      transcript.answered(question, response);
    });
    leg = next;
  }
}

/** The next request of the call: the token unchanged, every question answered from the script. */
export async function answer(
  required: InputRequired,
  round: number,
  script: Script,
  onAnswer: (question: Asked, response: object) => void = () => {},
): Promise<Leg> {
  const responses: [string, object][] = [];
  for (const [key, request] of Object.entries(required.inputRequests ?? {})) {
    const question = asked(key, request, round);
    const response = await responseTo(question, request, script);
    onAnswer(question, response);
    responses.push([key, response]);
  }
  return {
    requestState: required.requestState,
    ...(responses.length === 0 ? {} : { inputResponses: Object.fromEntries(responses) }),
  };
}

/** The result, if the call has come to one. Throws where it ended in an error. */
export function resultOf({ answer: { kind, ...rest } }: Served): CallToolResult | undefined {
  if (kind === "complete" && "result" in rest) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tool's result
    return rest.result as CallToolResult;
  }
  if (kind !== "error" || !("code" in rest)) return undefined;
  const { code, message, cause } = rest;
  // The author's own mistake says more than its shape on the wire.
  if (cause instanceof Error) throw cause;
  throw Object.assign(new Error(message), { code });
}

export function requiredOf({ answer: given }: Served): InputRequired {
  if (given.kind !== "input_required")
    throw new Error(`The round was answered with ${given.kind}.`);
  return given.result;
}

function summary<D>(
  result: CallToolResult,
): Pick<Played<D>, "result" | "text" | "data" | "isError"> {
  const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return {
    result,
    text: texts.join("\n"),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked with the outputSchema
    data: result.structuredContent as D,
    isError: result.isError === true,
  };
}
