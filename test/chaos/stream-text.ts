// What the streams of the harness say.

/** The text of a piece: the attempt that made it, and its number. */
export const pieceOf = (nonce: string, index: number): string => `${nonce}:${index} `;

/** The attempt that a streamed text is from. */
export const nonceIn = (text: unknown): string => String(text).split(":")[0] ?? "";
