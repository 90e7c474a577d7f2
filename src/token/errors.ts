// The errors of tokens, tickets and sealed records.

/** Why a token or a ticket was refused. It belongs in logs only, because it would help a caller to forge one. */
export type TokenReason =
  | "not_text"
  | "too_long"
  | "malformed"
  | "unknown_key"
  | "forged"
  | "audience"
  | "principal"
  | "method"
  | "target"
  | "arguments"
  | "expired"
  | "rounds_spent"
  | "internal";

/** A `requestState` that this server did not make, that belongs to another request, or that has expired. The message never says which. */
export class TokenError extends Error {
  readonly reason: TokenReason;
  /** Of a record with an unknown key: the id of that key, which stands in the clear. */
  readonly keyId: string | undefined;

  constructor(reason: TokenReason, options?: ErrorOptions & { readonly keyId?: string }) {
    super("Invalid or expired requestState", options);
    this.name = "TokenError";
    this.reason = reason;
    this.keyId = options?.keyId;
  }
}

/** Something is too large to be sealed. The caller knows its contents and can name the largest parts. */
export class TokenTooLarge extends Error {
  /** How large the text would be. */
  readonly bytes: number;
  /** How large it may be, in bytes. */
  readonly limit: number;

  constructor(bytes: number, limit: number) {
    super(`The sealed text would have ${bytes} bytes, but the limit is ${limit}.`);
    this.name = "TokenTooLarge";
    this.bytes = bytes;
    this.limit = limit;
  }
}
