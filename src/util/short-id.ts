/** Logs show only the beginning of an id, because the whole id helps to read the task. */
export const shortId = (id: string): string => `${id.slice(0, 6)}…`;
