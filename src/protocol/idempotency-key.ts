// The key that lets a server recognise the first request of a call. It recognises later requests by their
// `requestState`.

/** The member of `_meta` that holds the key. */
export const idempotencyKeyMeta = "io.github.mcp-parley/idempotencyKey";

const shortest = 22;
const longest = 200;

/** Whether this is too long to guess: 22 characters of base64url are 128 bits. */
export const isIdempotencyKey = (key: unknown): key is string =>
  typeof key === "string" && key.length >= shortest && key.length <= longest;

/** What a key has to be, for messages. */
export const goodIdempotencyKey: string = `a text of ${shortest} to ${longest} characters that cannot be guessed`;
