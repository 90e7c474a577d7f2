/** Why a token or a ticket was refused. For logs only: told to a caller, it would be an oracle. */
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

/** A `requestState` that is not ours, not for this request, or too late. Its message never says which. */
export class TokenError extends Error {
  readonly reason: TokenReason;

  constructor(reason: TokenReason, options?: ErrorOptions) {
    super("Invalid or expired requestState", options);
    this.name = "TokenError";
    this.reason = reason;
  }
}

/** What was to be sealed is over the limit. The caller knows what is in it and can name the largest parts. */
export class TokenTooLarge extends Error {
  readonly bytes: number;
  readonly limit: number;

  constructor(bytes: number, limit: number) {
    super(`What is to be sealed comes to ${bytes} bytes, over the limit of ${limit}`);
    this.name = "TokenTooLarge";
    this.bytes = bytes;
    this.limit = limit;
  }
}
