/** Logs show only the beginning of an id, because the whole id is half of what it takes to read the task. */
export const shortId = (id: string): string => `${id.slice(0, 6)}…`;
