// The words after a command's name, or a `Usage` that says which of them is wrong.

import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { errorText } from "../../util/error-text.ts";
import { Usage } from "../command.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: O; allowPositionals: true }>
>;

export function parsed<const O extends Options>(
  command: string,
  args: readonly string[],
  options: O,
): Parsed<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const message = errorText(error);
    // Node adds a lecture on how to escape: its first sentence says it all.
    throw new Usage(`${command}: ${message.split(". ")[0] ?? message}`);
  }
}
