// Which server a kept call may use. If this person did not start the call here, another person may have written it, to
// start a program or to collect a token.

import { UsageError } from "../command.ts";
import type { Io } from "../command.ts";
import { plainLine } from "../screen/plain.ts";
import { style } from "../screen/style.ts";
import { nameOf } from "../server/target.ts";
import type { Target } from "../server/target.ts";
import type { CallReference } from "./reference.ts";

/** The server of a reference. Throws if it would start a program and is not trusted. */
export function targetIn({ target }: Pick<CallReference, "target">, isTrusted: boolean): Target {
  if (target === undefined) {
    throw new UsageError("The reference does not name its server. Pass it with --server.");
  }
  if (isTrusted || target.kind === "url") return target;
  const program = plainLine(nameOf(target), 500);
  throw new UsageError(
    `You did not start this call here, and it would start a program: ${program}\nIf you trust it, add --trust.`,
  );
}

/** The input and output without the token. Prints a message if there was one. */
export function withoutToken(io: Io): Io {
  const { PARLEY_TOKEN, ...env } = io.env;
  if (PARLEY_TOKEN !== undefined) {
    const why = "PARLEY_TOKEN is not sent, because you did not start this call here.";
    io.err(style.yellow(`${why} If you trust the server, add --trust.\n`));
  }
  return { ...io, env };
}
