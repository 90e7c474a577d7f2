// What a command is.

export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  readonly help: string;
  readonly run: (args: readonly string[], print: (text: string) => void) => void | Promise<void>;
}

/** It was called wrongly: exit code 2, and the help. */
export class Usage extends Error {
  override readonly name = "Usage";
}
