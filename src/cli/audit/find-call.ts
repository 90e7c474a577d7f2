// Finds a call by its id, or by the beginning of its id.

import type { AuditPlace, AuditStore } from "../../tasks/audit-store.ts";
import { UsageError } from "../command.ts";
import { plainLine } from "../screen/plain.ts";

const pageSize = 1_000;
const mostNamed = 5;

/** The id of the one call whose id begins with this text. Throws a `UsageError` if there is none, or more than one. */
export async function chainOf(audit: AuditStore, text: string): Promise<string> {
  if (text !== "" && (await audit.tail(text, [])).n > 0) return text;
  const found = text === "" ? new Set<string>() : await beginningWith(audit, text);
  const [only] = found;
  const shown = plainLine(text, 60);
  if (only === undefined) {
    throw new UsageError(`audit: no call in this store has an id that begins with "${shown}".`);
  }
  if (found.size === 1) return only;
  const named = [...found].slice(0, mostNamed).map((call) => plainLine(call, 60));
  const rest = found.size > mostNamed ? `, and ${found.size - mostNamed} more` : "";
  throw new UsageError(
    `audit: ${found.size} calls have an id that begins with "${shown}": ${named.join(", ")}${rest}. Pass more of the id.`,
  );
}

/** What belongs to no call, such as refused tokens, is in chains whose names begin with "~". */
async function beginningWith(audit: AuditStore, text: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let last: AuditPlace | undefined;
  do {
    const page = await audit.readAfter(last, pageSize);
    last = page.at(-1);
    for (const { chain } of page) {
      if (chain.startsWith(text) && !chain.startsWith("~")) found.add(chain);
    }
  } while (last !== undefined);
  return found;
}
