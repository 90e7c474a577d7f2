// Writes a played call as text: what it asked and got, which steps it ran and which it replayed.

import { timedOut } from "./script.ts";
import type { AskedQuestion } from "./script.ts";
import type { ServedRound, UndoExecution } from "./in-process-server.ts";

/** The lines of one call. */
export class Transcript {
  readonly #lines: string[] = [];

  constructor(name: string, args: unknown) {
    this.#lines.push(`${name} ${JSON.stringify(args ?? {})}`);
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  /** A round of the call. */
  round(round: number, { response, executions, replayed }: ServedRound): void {
    this.#lines.push(`round ${round}`);
    for (const step of replayed) this.#line("replays", step);
    for (const { step } of executions) this.#line("runs", step);
    if (response.kind === "input_required" && response.result.inputRequests === undefined) {
      this.#line("yields", "and is called again");
    }
  }

  /** A run in the background. */
  run({ executions, replayed }: Omit<ServedRound, "response">): void {
    this.#lines.push("in the background");
    for (const step of replayed) this.#line("replays", step);
    for (const { step } of executions) this.#line("runs", step);
  }

  /** What was undone after the end of the call. */
  undid(undone: readonly UndoExecution[]): void {
    for (const { step } of undone) this.#line("undoes", step);
  }

  /** A question and its answer. */
  answered({ key, message, kind }: AskedQuestion, response: unknown): void {
    this.#line("asks", kind === "form" ? `${key}: ${message}` : `${key} (${kind}): ${message}`);
    this.#line("gets", response === timedOut ? "no answer in time" : JSON.stringify(response));
  }

  /** How the call ended. */
  end({ text, isError }: { readonly text: string; readonly isError: boolean }): void {
    this.#lines.push(`${isError ? "error" : "done"}: ${text}`);
  }

  #line(verb: string, text: string): void {
    this.#lines.push(`  ${verb.padEnd(7)} ${text.replaceAll("\n", "\n          ")}`);
  }
}
