// Plays a call with a script, and tells how it went.

import type {
  CallToolResult,
  GetPromptResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server";
import type { InputRequired } from "../protocol/input-required.ts";
import { registeredAs } from "../server/app.ts";
import type { WireResult } from "../server/define/definition.ts";
import type { Prompt } from "../server/define/prompt.ts";
import type { Resource } from "../server/define/resource.ts";
import type { Tool } from "../server/define/tool.ts";
import { playTask } from "./play-task.ts";
import { asked, responseTo } from "./script.ts";
import type { Asked, Script } from "./script.ts";
import { Table } from "./table.ts";
import type { Execution, Leg, Player, Served } from "./table.ts";
import { Transcript } from "./transcript.ts";

export type PlayOptions = Player;

export interface Played<R, D> {
  readonly result: R;
  /** The text of the result's content, messages or contents. */
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
  /** What the call has become, if it went to the background. */
  readonly task: { readonly id: string; readonly statuses: readonly string[] } | undefined;
  /** The call as text, for a snapshot. */
  readonly transcript: string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- of any type
export type Handler = Tool<any, any> | Prompt<any> | Resource;
/** A resource takes its URI in place of the arguments. */
export type ArgsOf<H> =
  H extends Tool<infer In, infer _Out> ? In : H extends Prompt<infer In> ? In : string;
export type PlayedOf<H> =
  H extends Tool<infer _In, infer Out>
    ? Played<CallToolResult, Out>
    : H extends Prompt
      ? Played<GetPromptResult, undefined>
      : Played<ReadResourceResult, undefined>;

/** Plays a call in this process. A resource takes the URI in place of the arguments. */
export async function play<H extends Handler>(
  handler: H,
  args: ArgsOf<H>,
  script: Script = {},
  options: PlayOptions = {},
): Promise<PlayedOf<H>> {
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
    const task = served.answer.kind === "task" ? { id: served.answer.task.id } : undefined;
    const statuses: string[] = [];
    const result =
      task === undefined
        ? resultOf(served)
        : await playTask(table, task.id, script, {
            onRun: (run) => {
              executions.push(...run.executions);
              transcript.run(run);
            },
            onStatus: (status) => {
              if (statuses.at(-1) !== status) statuses.push(status);
            },
            onAnswer: (question, response) => {
              refuseRepetition(question, questions, script);
              questions.push(question);
              transcript.answered(question, response);
            },
          });
    if (result !== undefined) {
      const summary = summaryOf(result);
      transcript.end(summary);
      const played: Played<WireResult, unknown> = {
        ...summary,
        rounds: round,
        asked: questions,
        ran: (step) => executions.filter((execution) => execution.step === step).length,
        tokenBytes,
        task: task && { ...task, statuses },
        transcript: transcript.text,
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of this kind of handler
      return played as PlayedOf<H>;
    }
    const required = requiredOf(served);
    tokenBytes.push(required.requestState.length);
    const next = await answer(required, round, script, (question, response) => {
      refuseRepetition(question, questions, script);
      questions.push(question);
      transcript.answered(question, response);
    });
    leg = next;
  }
}

/** A script says the same thing again and again; a question that did not take it once never will. */
function refuseRepetition(
  { key, message, round }: Asked,
  earlier: readonly Asked[],
  script: Script,
): void {
  const times = earlier.filter((question) => question.key === key).length;
  if (times < (typeof script === "function" ? 10 : 2)) return;
  throw new Error(
    `The script's answer to question "${key}" was refused ${times} times by round ${round}: ${message}`,
  );
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
export function resultOf({ answer: given }: Served): WireResult | undefined {
  if (given.kind === "complete") return given.result;
  if (given.kind !== "error") return undefined;
  const { code, message, cause } = given;
  // The author's own mistake says more than its shape on the wire.
  if (cause instanceof Error) throw cause;
  throw Object.assign(new Error(message), { code });
}

export function requiredOf({ answer: given }: Served): InputRequired {
  if (given.kind !== "input_required")
    throw new Error(`The round was answered with ${given.kind}.`);
  return given.result;
}

function summaryOf(
  result: WireResult,
): Pick<Played<WireResult, unknown>, "result" | "text" | "data" | "isError"> {
  return {
    result,
    text: textsOf(result).join("\n"),
    data: result["structuredContent"],
    isError: result["isError"] === true,
  };
}

/** Whatever texts a tool's content, a prompt's messages or a resource's contents have. */
function textsOf({ content, messages, contents }: WireResult): string[] {
  const parts: unknown = content ?? contents ?? messages;
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: { text?: unknown; content?: { text?: unknown } }) => {
    const text = part.text ?? part.content?.text;
    return typeof text === "string" ? [text] : [];
  });
}
