// Prints the outcome of a call: text for a person, one JSON object for a program, and an exit code for both.

import { isCallToolResult, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import type { CallResult, Connection, OpenQuestion } from "../../client/index.ts";
import { isObject } from "../../util/objects.ts";
import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { blockText } from "./block-text.ts";
import type { Outcome } from "./drive.ts";
import { inCommandWords } from "./command-words.ts";
import type { StreamedText } from "./streamed-text.ts";
import { asTyped, ownName } from "../own-name.ts";
import { plain, plainJson, plainLine } from "../screen/plain.ts";
import { urlWarnings } from "../prompts/url-warnings.ts";
import { expectedOf, worded } from "../prompts/form-field.ts";
import type { FormField } from "../../protocol/form.ts";
import { readReference, shortId } from "../journal/reference.ts";
import { style } from "../screen/style.ts";
import { legacyVersion } from "../../protocol/versions.ts";

/** An outcome, and what is printed with it. */
export interface CallReport {
  readonly outcome: Outcome;
  readonly tool: string;
  readonly server: Pick<Connection, "server" | "era"> | undefined;
  /** The reference that resumes the call. Undefined if the call is over or cannot be resumed. */
  readonly ref: string | undefined;
  /** The arguments for `parley resume` that find the call in the journal. Undefined if it is not there. */
  readonly kept: string | undefined;
  /** The words after `parley` that continue a call which the journal does not have. */
  readonly again?: string | undefined;
  /** Whether a token was typed, so that it has to be typed again. It is never printed. */
  readonly needsToken?: boolean | undefined;
  /** What was printed while the call ran. */
  readonly streamed?: StreamedText | undefined;
}

/** Prints the outcome of a call. */
export function tell(told: CallReport, io: Io, isJson: boolean): ExitCode {
  if (isJson) io.out(`${plainJson(envelope(told))}\n`);
  else print(told, io);
  return exitOf(told.outcome);
}

// ---------------------------------------------------------------- for programs

/** Version 1. Members can be added, but are never removed. */
function envelope({ outcome, tool, server, ref, kept }: CallReport): Record<string, unknown> {
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

/** The result as the server sent it, without the members that the client adds. */
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

function print(told: CallReport, { out, err, env }: Io): void {
  const { outcome, ref, kept, again, streamed, needsToken } = told;
  if ("result" in outcome) {
    const text = textOf(outcome.result);
    return out(streamed === undefined ? `${text}\n` : streamed.rest(text));
  }
  if (streamed !== undefined) out(streamed.end());
  if ("error" in outcome) err(`${style.red(plain(outcome.error.message))}\n`);
  if (outcome.status === "detached") {
    out(`${plainLine(outcome.taskId ?? "")}\n`);
    err("The task goes on without this command.\n");
  }
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
  const own = ownName(env);
  const more = `${needsToken === true ? " --token <token>" : ""}${answers}`;
  if (again !== undefined) return say(`Continue with: ${own} ${plainLine(again)}${more}\n`);
  if (kept === undefined) return say(`Resume with:\n  ${own} resume${more} ${ref}\n`);
  say(`Resume with: ${own} resume ${kept}${more}\n`);
  err(style.dim(`From elsewhere: ${own} resume ${kept} --print prints the whole reference.\n`));
}

/** The most --answer options to suggest. More answers are better in a file. */
const mostAnswers = 8;

const notResumable =
  "The call cannot be resumed, because a 2025-11-25 session ends with its connection. Call again with --answer.";

/** A question as it is printed without a terminal. */
export function questionText(question: OpenQuestion): string {
  const head = `? ${plainLine(question.key)} (${question.kind})`;
  switch (question.kind) {
    case "form": {
      const required = question.schema.required ?? [];
      const fields = Object.entries(question.schema.properties).map(([name, field]) => {
        const optional = required.includes(name) ? "" : ", optional";
        const about = aboutField(name, field);
        return `    ${plainLine(name)}: ${expectedOf(field) ?? "JSON"}${optional}${about}\n`;
      });
      // A question of `ctx.confirm` has no field.
      if (fields.length === 0) fields.push(`    ${plainLine(question.key)}: yes or no\n`);
      return `${head} ${plain(question.message).trim()}\n${fields.join("")}`;
    }
    case "url":
      return [
        `${head} ${plain(question.message).trim()}`,
        `The page is on ${plainLine(question.host)}: ${plainLine(question.url, 4_000)}`,
        ...urlWarnings(question),
      ]
        .join("\n    ")
        .concat("\n");
    case "sampling":
      return `${head}\n    ${plainLine(plainJson(question.params.messages), 1_000)}\n`;
    case "roots":
      return `${head} The folders that the server may use: --root DIR\n`;
  }
}

/** The title and the description of a field, as far as they say more than its name. */
function aboutField(name: string, { title, description }: FormField): string {
  const parts = [title, description]
    .map((part) => plainLine(worded(part ?? "")))
    .filter((part) => part !== "" && part.toLowerCase() !== name.toLowerCase());
  return parts.length === 0 ? "" : ` (${parts.join(": ")})`;
}

/** The result of a task as text. A server can send any value. */
export function resultText(result: unknown): string {
  return isCallToolResult(result) ? textOf(result) : plainJson(result);
}

function textOf({ content, structuredContent }: CallToolResult): string {
  if (content.length > 0) return content.map(blockText).join("\n");
  return isObject(structuredContent) ? plainJson(structuredContent, 2) : "";
}

// ---------------------------------------------------------------- for scripts

/** The reference that resumes the call, if it can be resumed. `last` is the newest one in the journal. */
export function resumable(
  outcome: Outcome,
  { era }: Pick<Connection, "era">,
  last: string | undefined,
): string | undefined {
  if ("result" in outcome) return undefined;
  // A 2025-11-25 session ends with its connection, but its tasks continue.
  if (era === legacyVersion && outcome.taskId === undefined) return undefined;
  if (!("error" in outcome)) return last;
  const { error } = outcome;
  if (!(error instanceof CallError)) return undefined;
  return error.ref === undefined && error.code !== "bad_answer" ? undefined : last;
}

/** Prints an error that happened before there was a call. */
export function tellFailure(thrown: unknown, io: Io, isJson: boolean): ExitCode {
  const error = explained(thrown);
  if (isJson) io.out(`${plainJson({ parley: 1, status: "failed", error: errorOf(error) })}\n`);
  else io.err(`${style.red(asTyped(plain(error.message), io.env))}\n`);
  return exitOfError(error);
}

function explained(thrown: unknown): Error {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const cause = error.cause;
  const isUnknown = cause instanceof SdkHttpError && cause.status === 401;
  if (!isUnknown && !(error instanceof UnauthorizedError)) return inCommandWords(error);
  const why = "it received no token, or one that it does not accept";
  const advice = "Pass --token or --login.";
  return new CallError("refused", `The server requires you to sign in: ${why}. ${advice}`);
}

function exitOf(outcome: Outcome): ExitCode {
  switch (outcome.status) {
    case "done":
    case "detached":
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
