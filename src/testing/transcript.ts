// A call as text: who asked what, what was answered, what was run and what came from the token.

import type { Asked } from "./script.ts";
import type { Served } from "./table.ts";

export class Transcript {
  readonly #lines: string[] = [];

  constructor(name: string, args: unknown) {
    this.#lines.push(`${name} ${JSON.stringify(args ?? {})}`);
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  round(round: number, { answer, executions, replayed }: Served): void {
    this.#lines.push(`round ${round}`);
    for (const step of replayed) this.#line("replays", step);
    for (const { step } of executions) this.#line("runs", step);
    if (answer.kind === "input_required" && answer.result.inputRequests === undefined) {
      this.#line("yields", "and is called again");
    }
  }

  /** Of a task. */
  run({ executions, replayed }: Omit<Served, "answer">): void {
    this.#lines.push("in the background");
    for (const step of replayed) this.#line("replays", step);
    for (const { step } of executions) this.#line("runs", step);
  }

  answered({ key, message, kind }: Asked, response: unknown): void {
    this.#line("asks", kind === "form" ? `${key}: ${message}` : `${key} (${kind}): ${message}`);
    this.#line("told", JSON.stringify(response));
  }

  end({ text, isError }: { readonly text: string; readonly isError: boolean }): void {
    this.#lines.push(`${isError ? "error" : "done"}: ${text}`);
  }

  #line(verb: string, text: string): void {
    this.#lines.push(`  ${verb.padEnd(7)} ${text.replaceAll("\n", "\n          ")}`);
  }
}
