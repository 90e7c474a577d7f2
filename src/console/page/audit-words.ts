// What the records of the audit say, in words.

import type { AuditFacts } from "../wire.ts";

/** Without a name, it was the caller, unless the server did it or was told by its own code. */
export function whoOf({ action, who, via, principal }: AuditFacts): string | undefined {
  const isCallers = !doneByServer.has(action) && via !== "delivery";
  return who ?? (isCallers ? principal : undefined);
}

/** What happened, in the words of the inbox. */
export const actionText = (action: string): string =>
  action === "rejected" ? "declined" : action.replaceAll("_", " ");

const doneByServer: ReadonlySet<string> = new Set(["asked", "timed_out", "undone", "undo_failed"]);
