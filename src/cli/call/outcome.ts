// The outcome of a call, as it is printed: text for a person, one JSON object for a program, and an exit code for both.

import { isCallToolResult, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import type { CallResult, Connection, OpenQuestion } from "../../client/index.ts";
import { isObject } from "../../util/objects.ts";
import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import type { Outcome } from "./drive.ts";
import { plain, plainJson, plainLine } from "../screen/plain.ts";
import { doubtsAbout } from "../prompts/doubts.ts";
import { expectedOf } from "../prompts/field.ts";
import { readReference, shortId } from "../journal/reference.ts";
import { style } from "../screen/style.ts";

export interface Told {
  readonly outcome: Outcome;
  readonly tool: string;
  readonly server: Pick<Connection, "server" | "era"> | undefined;
  /** With which the call can be gone on with. Undefined: it cannot, or need not. */
  readonly ref: string | undefined;
  /** The words with which `parley resume` finds it in the journal. Undefined: it is not there. */
  readonly kept: string | undefined;
}

export function tell(told: Told, io: Io, isJson: boolean): ExitCode {
  if (isJson) io.out(`${plainJson(envelope(told))}\n`);
  else print(told, io);
  return exitOf(told.outcome);
}

// ---------------------------------------------------------------- for programs

/** Version 1. What is here stays; more may come. */
function envelope({ outcome, tool, server, ref, kept }: Told): Record<string, unknown> {
  const { status, taskId, totals } = outcome;
  return {
    parley: 1,
    status,
    tool,
    ...(server !== undefined && { server: { ...server.server, era: server.era } }),
    ...("result" in outcome && { result: resultOf(outcome.result) }),
    ...("error" in outcome && { error: errorOf(outcome.error) }),
    ...("questions" in outcome && { questions: outcome.questions }),
    ...(taskId !== undefined && { taskId }),
    ...(ref !== undefined && { ref }),
    ...(ref !== undefined && kept !== undefined && { id: idOf(ref) }),
    totals,
  };
}

/** As the server sent it, without what the client has put beside. */
function resultOf(result: CallResult): object {
  const { text: _text, data: _data, ...sent } = result;
  return sent;
}

function errorOf(error: Error): object {
  const code = error instanceof CallError ? error.code : "failed";
  const rpc = error instanceof CallError ? error.rpc : undefined;
  return { code, message: plain(error.message), ...(rpc !== undefined && { rpc }) };
}

const idOf = (ref: string) => shortId(readReference(ref).state);

// ---------------------------------------------------------------- for people

function print({ outcome, ref, kept }: Told, { out, err }: Io): void {
  if ("result" in outcome) return out(`${textOf(outcome.result)}\n`);
  if ("error" in outcome) err(`${style.red(plain(outcome.error.message))}\n`);
  if ("questions" in outcome) {
    for (const question of outcome.questions) out(questionText(question));
  }
  if (ref === undefined) {
    if (outcome.status === "inputNeeded") err(`${notResumable}\n`);
    return;
  }
  const answers =
    outcome.status === "inputNeeded"
      ? outcome.questions
          .slice(0, mostAnswers)
          .map(({ key }) => ` --answer ${plainLine(key)}=…`)
          .join("")
      : "";
  const say = outcome.status === "inputNeeded" ? out : err;
  if (kept === undefined) return say(`resume with:\n  parley resume${answers} ${ref}\n`);
  say(`resume with: parley resume ${kept}${answers}\n`);
  err(style.dim(`elsewhere: parley resume ${kept} --print shows the whole reference.\n`));
}

/** In what is shown: who has more of them writes a file. */
const mostAnswers = 8;

const notResumable =
  "It cannot be resumed: a 2025-11-25 session ends with its connection. Call again, with --answer.";

export function questionText(question: OpenQuestion): string {
  const head = `? ${plainLine(question.key)} (${question.kind})`;
  switch (question.kind) {
    case "form": {
      const required = question.schema.required ?? [];
      const fields = Object.entries(question.schema.properties).map(([name, field]) => {
        const optional = required.includes(name) ? "" : ", optional";
        return `    ${plainLine(name)}: ${expectedOf(field) ?? "JSON"}${optional}\n`;
      });
      return `${head} ${plain(question.message).trim()}\n${fields.join("")}`;
    }
    case "url":
      return [
        `${head} ${plain(question.message).trim()}`,
        `the page is at ${plainLine(question.host)}: ${plainLine(question.url, 4_000)}`,
        ...doubtsAbout(question),
      ]
        .join("\n    ")
        .concat("\n");
    case "sampling":
      return `${head}\n    ${plainLine(plainJson(question.params.messages), 1_000)}\n`;
    case "roots":
      return `${head} the folders it may work in: --root DIR\n`;
  }
}

/** Of what a task's `result` is; it may be anything. */
export function resultText(result: unknown): string {
  return isCallToolResult(result) ? textOf(result) : plainJson(result);
}

function textOf({ content, structuredContent }: CallToolResult): string {
  const blocks = content.map((block) => {
    switch (block.type) {
      case "text":
        return plain(block.text);
      case "image":
      case "audio":
        return `[${block.type}, ${plainLine(block.mimeType)}, ${Math.floor((block.data.length * 3) / 4)} bytes]`;
      case "resource_link":
        return `[${plainLine(block.name)}] ${plainLine(block.uri)}`;
      case "resource":
        return "text" in block.resource
          ? plain(block.resource.text)
          : `[${plainLine(block.resource.uri)}]`;
      default:
        return plainJson(block);
    }
  });
  if (blocks.length > 0) return blocks.join("\n");
  return isObject(structuredContent) ? plainJson(structuredContent, 2) : "";
}

// ---------------------------------------------------------------- for scripts

/** What it can be gone on with, if it can. `last` is where it stood when it was last kept. */
export function resumable(
  outcome: Outcome,
  { era }: Pick<Connection, "era">,
  last: string | undefined,
): string | undefined {
  if ("result" in outcome) return undefined;
  // A session of 2025-11-25 ends with its connection; its tasks do not.
  if (era === "2025-11-25" && outcome.taskId === undefined) return undefined;
  if (!("error" in outcome)) return last;
  const { error } = outcome;
  if (!(error instanceof CallError)) return undefined;
  return error.ref === undefined && error.code !== "bad_answer" ? undefined : last;
}

/** What went wrong before there was a call. */
export function tellFailure(thrown: unknown, io: Io, isJson: boolean): ExitCode {
  const error = explained(thrown);
  if (isJson) io.out(`${plainJson({ parley: 1, status: "failed", error: errorOf(error) })}\n`);
  else io.err(`${style.red(plain(error.message))}\n`);
  return exitOfError(error);
}

function explained(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const cause = error.cause;
  const isUnknown = cause instanceof SdkHttpError && cause.status === 401;
  if (!isUnknown && !(error instanceof UnauthorizedError)) return error;
  const advice = "Pass --token, or sign in with --login.";
  return new CallError("refused", `The server wants to know who you are. ${advice}`);
}

function exitOf(outcome: Outcome): ExitCode {
  switch (outcome.status) {
    case "done":
      return exit.done;
    case "inputNeeded":
      return exit.inputNeeded;
    case "interrupted":
      return exit.interrupted;
    case "failed":
      return "error" in outcome ? exitOfError(outcome.error) : exit.failed;
  }
}

function exitOfError(error: unknown): ExitCode {
  if (!(error instanceof CallError)) return exit.failed;
  if (error.code === "timed_out") return exit.timeout;
  return error.code === "bad_answer" || error.code === "bad_reference" ? exit.usage : exit.failed;
}
