// Plays a call in this process, with a script that answers its questions.

import type {
  CallToolResult,
  GetPromptResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server";
import type { InputRequired } from "../protocol/input-required.ts";
import type { AuditRecord } from "../server/audit/audit-record.ts";
import type { RoundResponse } from "../server/round/request.ts";
import { registeredAs } from "../server/define/handles.ts";
import type { WireResult } from "../server/define/definition.ts";
import type { Prompt } from "../server/define/prompt.ts";
import type { Resource } from "../server/define/resource.ts";
import type { Tool } from "../server/define/tool.ts";
import { playTask } from "./play-task.ts";
import { pauseIn } from "./played-pause.ts";
import {
  askedQuestion,
  expectedFor,
  noTimeLimit,
  responseTo,
  scriptedFor,
  timedOut,
} from "./script.ts";
import type { AskedQuestion, Script } from "./script.ts";
import { InProcessServer } from "./in-process-server.ts";
import type { PlayOptions, RoundInput, ServedRound } from "./in-process-server.ts";
import { HeldStreams } from "./held-streams.ts";
import type { HeldStream } from "./held-streams.ts";
import type { BodyExecution } from "./watched-bodies.ts";
import { Transcript } from "./transcript.ts";

/** How a played call went. */
export interface Played<R, D> {
  /** The result, as the client gets it. */
  readonly result: R;
  /** All text of the result: of a tool's content, a prompt's messages or a resource's contents, joined by line breaks. */
  readonly text: string;
  /** The structured content of the result. Undefined if the tool has no `outputSchema`. */
  readonly data: D;
  /** Whether the result reports an error, such as a handler that threw. */
  readonly isError: boolean;
  /** How many requests the client sent for this call. */
  readonly rounds: number;
  /** Every question of the call, in the order they were asked. A question that was asked again is in the list twice. */
  readonly asked: readonly AskedQuestion[];
  /** How many times the body of this step was executed. Retries of one execution do not count. */
  readonly ran: (step: string) => number;
  /** How often the undo of this step ran to its end. */
  readonly undid: (step: string) => number;
  /**
   * What the client holds of this stream at the end, after resets and replacements. Empty if nothing was streamed under this
   * key, or if the client does not take streams.
   *
   * @example
   * ```ts
   * const call = await play(report, { topic: "Q2" });
   * expect(call.streamed("draft").text).toBe("Revenue grew.");
   * ```
   */
  readonly streamed: (key: string) => HeldStream;
  /** What the model was told each time the call paused. Empty for a client that can be asked itself. */
  readonly pauses: readonly string[];
  /**
   * What the audit says about the call, in the order it happened. It has the answers only with `audit: { values: true }`.
   *
   * @example
   * ```ts
   * const call = await play(deploy, { service: "web" }, { confirm: true });
   * expect(call.audit.map(({ action }) => action)).toEqual(["asked", "answered"]);
   * ```
   */
  readonly audit: readonly AuditRecord[];
  /** The size of the token after each round that ended with a question, in bytes. */
  readonly tokenBytes: readonly number[];
  /** The task that the call became. Undefined if it stayed in the foreground. */
  readonly task: PlayedTask | undefined;
  /** The whole call as text, for a snapshot. */
  readonly transcript: string;
}

/** The task that a played call became. */
export interface PlayedTask {
  /** Its id, as the client sees it. */
  readonly id: string;
  /** The statuses that the task went through, such as `["working", "input_required", "working", "completed"]`. */
  readonly statuses: readonly string[];
}

/** What can be played: a tool, a prompt or a resource, as `app.tool` and its siblings return it. */
// oxlint-disable-next-line typescript/no-explicit-any -- of any type
export type Playable = Tool<any, any> | Prompt<any> | Resource;
/** What to call a handler with: the arguments of a tool or prompt, the URI of a resource. */
export type PlayArguments<H> =
  H extends Tool<infer In, infer _Out> ? In : H extends Prompt<infer In> ? In : string;
/** How the call of a handler went, typed after its kind and its `outputSchema`. */
export type PlayedCall<H> =
  H extends Tool<infer _In, infer Out>
    ? Played<CallToolResult, Out>
    : H extends Prompt
      ? Played<GetPromptResult, undefined>
      : Played<ReadResourceResult, undefined>;

/**
 * Plays a call from its first request to its result. Every round is served by a new instance of the app through a real
 * token, sleeps take no time, and the script answers the questions. Rejects with the `ParleyError` if the handler has a
 * mistake.
 *
 * @example
 * ```ts
 * const call = await play(deploy, { service: "web" }, { confirm: true });
 * expect(call.text).toBe("web is deployed.");
 * expect(call.asked.map(({ message }) => message)).toEqual(["Deploy web?"]);
 * expect(call.ran("deploy")).toBe(1);
 * ```
 *
 * @param handler What `app.tool`, `app.prompt` or `app.resource` returned.
 * @param args The arguments, or the URI of a resource.
 * @param script The answers, by key or as a function. Not needed if the handler asks nothing.
 * @param options Who makes the call.
 */
export async function play<H extends Playable>(
  handler: H,
  args: PlayArguments<H>,
  script: Script = {},
  options: PlayOptions = {},
): Promise<PlayedCall<H>> {
  const { core, definition } = registeredAs(handler);
  const server = new InProcessServer(core, definition, args, options);
  const transcript = new Transcript(definition.name, args);
  const questions: AskedQuestion[] = [];
  const executions: BodyExecution[] = [];
  const tokenBytes: number[] = [];
  const streams = new HeldStreams();
  const pauses: string[] = [];
  const undoAll = async () => {
    await server.undoAll();
    transcript.undid(server.undone);
  };
  const answers = new ScriptedAnswers(server, script);
  let input: RoundInput = {};
  for (let round = 1; ; round += 1) {
    const served = await server.send(input);
    executions.push(...served.executions);
    streams.round(served);
    transcript.round(round, served);
    const { response: ending } = served;
    const pause = pauseIn(ending);
    if (pause !== undefined) pauses.push(textsOf(resultOf(served) ?? {}).join("\n"));
    else if (ending.kind === "complete" || ending.kind === "error") await undoAll();
    const task = await taskOf(server, ending, pause, options.principal);
    const statuses: string[] = [];
    const result =
      task === undefined
        ? pause === undefined
          ? resultOf(served)
          : undefined
        : await playTask(server, task.id, script, {
            onRest: () => streams.read(server, task.id),
            onRun: (run) => {
              executions.push(...run.executions);
              transcript.run(run);
            },
            onEnd: undoAll,
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
        undid: (step) => server.undone.filter((one) => one.step === step).length,
        streamed: streams.streamed,
        pauses,
        audit: [...server.audit],
        tokenBytes,
        task: task && { ...task, statuses },
        transcript: transcript.text,
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the result of this kind of handler
      return played as PlayedCall<H>;
    }
    const required = pause ?? requiredOf(served);
    if (pause === undefined) tokenBytes.push(required.requestState.length);
    input = await answers.next(required, round, (question, response) => {
      refuseRepetition(question, questions, script);
      questions.push(question);
      transcript.answered(question, response);
    });
  }
}

/** The task that the call has become. That of a paused call asks nothing yet, so it is run here like any other. */
async function taskOf(
  server: InProcessServer,
  response: RoundResponse,
  pause: InputRequired | undefined,
  principal: string | undefined,
): Promise<{ readonly id: string } | undefined> {
  if (response.kind === "task") return { id: response.task.id };
  if (pause === undefined || pause.inputRequests !== undefined) return undefined;
  const task = await server.tasks.newest(principal);
  return task && { id: task.id };
}

/** Refuses to give the same answer forever, because a question that refused it once will refuse it again. */
function refuseRepetition(
  question: AskedQuestion,
  earlier: readonly AskedQuestion[],
  script: Script,
): void {
  const { key, kind, message, round } = question;
  const times = earlier.filter((one) => one.key === key).length;
  if (times < (typeof script === "function" ? 10 : 2)) return;
  // The messages of other questions say why.
  const isSilent = kind === "sampling" || kind === "roots";
  const reason = isSilent ? `\nIt does not fit. Write ${expectedFor(question)}.` : "";
  throw new Error(
    `The script's answer to question "${key}" was refused ${times} times by round ${round}: ${message}${reason}`,
  );
}

/** Answers the rounds of one call from a script. */
export class ScriptedAnswers {
  readonly #server: InProcessServer;
  readonly #script: Script;
  /** The questions that were not answered in time. */
  readonly #silent = new Set<string>();

  constructor(server: InProcessServer, script: Script) {
    this.#server = server;
    this.#script = script;
  }

  /** The next request of the call, with the token unchanged and every question answered from the script. */
  async next(
    { inputRequests, requestState }: InputRequired,
    round: number,
    onAnswer: (question: AskedQuestion, response: unknown) => void = () => {},
  ): Promise<RoundInput> {
    const responses: [string, object][] = [];
    const silent: AskedQuestion[] = [];
    for (const [key, request] of Object.entries(inputRequests ?? {})) {
      const question = askedQuestion(key, request, round, this.#server.audit);
      const scripted = await scriptedFor(question, this.#script);
      if (scripted === timedOut) {
        silent.push(question);
        continue;
      }
      const response = responseTo(question, request, scripted);
      onAnswer(question, response);
      responses.push([key, response]);
    }
    if (responses.length > 0)
      return { requestState, inputResponses: Object.fromEntries(responses) };
    for (const question of silent) {
      // If it is asked again, its time was not limited.
      if (this.#silent.has(question.key)) throw noTimeLimit(question.key);
      this.#silent.add(question.key);
      onAnswer(question, timedOut);
    }
    if (silent.length > 0) this.#server.letTimePass(requestState);
    return { requestState };
  }
}

/** The result, if the call has one. Throws if the call ended in an error. */
export function resultOf({ response }: ServedRound): WireResult | undefined {
  if (response.kind === "complete") return response.result;
  if (response.kind !== "error") return undefined;
  const { code, message, cause } = response;
  // The original error says more than what the client would see of it.
  if (cause instanceof Error) throw cause;
  throw Object.assign(new Error(message), { code });
}

/** What the round asked for. Throws if it asked for nothing. */
export function requiredOf({ response }: ServedRound): InputRequired {
  if (response.kind !== "input_required")
    throw new Error(`The round ended with "${response.kind}" instead of a question.`);
  return response.result;
}

/** What a result says. */
export function summaryOf(
  result: WireResult,
): Pick<Played<WireResult, unknown>, "result" | "text" | "data" | "isError"> {
  return {
    result,
    text: textsOf(result).join("\n"),
    data: result["structuredContent"],
    isError: result["isError"] === true,
  };
}

/** The texts in a tool's content, a prompt's messages or a resource's contents. */
function textsOf({ content, messages, contents }: WireResult): string[] {
  const parts: unknown = content ?? contents ?? messages;
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: { text?: unknown; content?: { text?: unknown } }) => {
    const text = part.text ?? part.content?.text;
    return typeof text === "string" ? [text] : [];
  });
}
