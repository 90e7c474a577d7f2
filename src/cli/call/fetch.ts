// Gets a prompt or reads a resource. Unlike a tool it has no effects, so the call is not kept. If an answer was
// missing, the person runs the command again with it.

import type { CreateMessageResult } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import type { Connection, ConnectOptions, FormAnswer, OpenQuestion } from "../../client/index.ts";
import { GivenAnswers } from "../args/given-answers.ts";
import { exit, UsageError } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { askPerson, Interrupted } from "../prompts/person.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { printerFor } from "../screen/printer.ts";
import { accessOf, accessOptions, openConnection, timeoutOf } from "../server/access.ts";
import type { AccessValues } from "../server/access.ts";
import type { Target } from "../server/target.ts";
import { questionText, tellFailure } from "./outcome.ts";

/** The options of the commands that fetch something. */
export const fetchOptions = {
  ...accessOptions,
  answers: { type: "string" },
  answer: { type: "string", multiple: true },
  "no-input": { type: "boolean" },
} as const;

/** What the help of these commands says about answers. */
export const answersHelp = `Answers can be given in advance. At a terminal, you are asked the other
questions. Without a terminal, the first open question is printed, and the exit
code is 6.
  --answer key=value       one answer, as JSON or text; can be repeated
  --answers FILE           a JSON object of answers
  --no-input               never ask, even at a terminal
`;

/** What their help says about their output. */
export const outputHelp = `JSON (--json)
  {"parley": 1, "status": "done" | "failed" | "inputNeeded", "result"?,
   "questions"?, "error"?: {"code", "message", "rpc"?}}

Exit codes
  0 done, 1 failed, 2 usage error, 6 an answer is needed, 7 timed out,
  130 interrupted
`;

/** The values of these options. */
export interface FetchValues extends AccessValues {
  readonly answers?: string | undefined;
  readonly answer?: readonly string[] | undefined;
  readonly "no-input"?: boolean | undefined;
}

/** A question has no answer, and the command must not ask. */
class AnswerNeeded extends Error {
  override readonly name = "AnswerNeeded";
}

/** Connects, gets the result with `get`, and prints it with `text`, or as JSON. */
export async function fetchAndPrint<T extends object>(
  target: Target,
  values: FetchValues,
  io: Io,
  get: (connection: Connection, options: { timeoutMs?: number | undefined }) => Promise<T>,
  text: (result: T) => string,
): Promise<ExitCode> {
  const isJson = values.json === true;
  const printer = printerFor(io);
  const given = new GivenAnswers(values.answers, values.answer ?? []);
  const isInteractive = io.isInteractive && values["no-input"] !== true;
  const answered = async (question: OpenQuestion, signal: AbortSignal) => {
    const answer = given.for(question);
    if (answer !== undefined) return answer;
    if (!isInteractive) throw new AnswerNeeded(question.key);
    return printer.quiet((say) => askPerson(question, { signal, say }));
  };
  const asked = accessOf(values, io);
  const handlers: Pick<ConnectOptions, "elicit" | "sample"> = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client checks it against the question
    elicit: async (question, { signal }) => (await answered(question, signal)) as FormAnswer,
    sample: async (params, { signal }) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client checks it against the question
      (await answered(
        { kind: "sampling", key: "sampling", params },
        signal,
      )) as CreateMessageResult,
  };
  const options = asked.elicit === undefined ? asked : { ...asked, ...handlers };
  let closing: (() => Promise<void>) | undefined;
  try {
    const { connection, close } = await openConnection(target, options, values, printer, io);
    closing = close;
    const result = await get(connection, { timeoutMs: timeoutOf(values) });
    io.out(isJson ? `${plainJson({ parley: 1, status: "done", result })}\n` : text(result));
    return exit.done;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (causeOf(error) instanceof Interrupted) return exit.interrupted;
    const question = unanswered(error);
    if (question === undefined) return tellFailure(error, io, isJson);
    if (isJson) {
      io.out(`${plainJson({ parley: 1, status: "inputNeeded", questions: [question] })}\n`);
    } else {
      io.out(questionText(question));
      io.out(`Run the command again with --answer ${plainLine(question.key)}=…\n`);
    }
    return exit.inputNeeded;
  } finally {
    await closing?.();
  }
}

const causeOf = (error: unknown) => (error instanceof CallError ? error.cause : undefined);

const unanswered = (error: unknown): OpenQuestion | undefined =>
  error instanceof CallError && error.cause instanceof AnswerNeeded ? error.question : undefined;
