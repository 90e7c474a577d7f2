// What stands for an answer that a page has not brought yet.

/** The client says that its user went to the page, and the page has no answer. */
export const pending = { action: "pending" } as const;

/** Whether a raw answer is the one above. */
export const isPending = (raw: unknown): boolean =>
  typeof raw === "object" && raw !== null && "action" in raw && raw.action === pending.action;
