/** Logs show only the beginning of an id, because the whole id helps to read the task. */
export const shortId = (id: string): string => `${loggedPart(id)}…`;

/** The part of an id that logs show, for whoever searches them. */
export const loggedPart = (id: string): string => id.slice(0, 6);
