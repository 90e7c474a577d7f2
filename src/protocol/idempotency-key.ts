// The key by which a server knows the first request of a call again. Later requests are known by their `requestState`.

/** The member of `_meta` that holds the key. */
export const idempotencyKeyMeta = "io.github.mcp-parley/idempotencyKey";

const shortest = 22;
const longest = 200;

/** Whether this is long enough that nobody guesses it: 22 characters of base64url are 128 bits. */
export const isIdempotencyKey = (key: unknown): key is string =>
  typeof key === "string" && key.length >= shortest && key.length <= longest;

/** What a key has to be, for messages. */
export const goodIdempotencyKey: string = `a text of ${shortest} to ${longest} characters that nobody can guess`;
