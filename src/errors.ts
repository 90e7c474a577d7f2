// The three errors an author can meet. Everything else in the library is below this file: it imports nothing.

/** Every way in which a handler or the set-up can be wrong, one literal each. */
export type ParleyErrorCode =
  | "not_awaited"
  | "bad_key"
  | "bad_option"
  | "bad_result"
  | "duplicate_key"
  | "ask_in_step"
  | "step_in_step"
  | "not_json"
  | "not_askable"
  | "mixed_styles"
  | "ctx_after_return"
  | "history_changed"
  | "unstable_question"
  | "no_keys"
  | "no_store"
  | "no_worker"
  | "no_principal"
  | "token_too_large"
  | "too_many_rounds"
  | "too_many_tasks"
  | "too_many_questions"
  | "log_too_large"
  | "bad_ticket";

/** A mistake in a handler or in the set-up. The message says what happened and what to write instead. */
export class ParleyError extends Error {
  readonly code: ParleyErrorCode;

  constructor(code: ParleyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ParleyError";
    this.code = code;
  }
}

export type UnansweredReason = "declined" | "cancelled" | "timed_out" | "unsupported";

/** What a question throws when there is no answer. Uncaught, it becomes a result that says so. */
export class Unanswered extends Error {
  readonly key: string;
  readonly reason: UnansweredReason;

  constructor(key: string, reason: UnansweredReason) {
    super(`Question "${key}" was ${sentence[reason]}.`);
    this.name = "Unanswered";
    this.key = key;
    this.reason = reason;
  }
}

const sentence: Record<UnansweredReason, string> = {
  declined: "declined",
  cancelled: "cancelled without an answer",
  timed_out: "not answered in time",
  unsupported: "not put, because this client cannot be asked it",
};

/**
 * What a step throws when its body did. The body's own error exists on the first run only; this is
 * what is left of it after JSON, on the first run as on every later one.
 */
export class StepError extends Error {
  readonly key: string;
  readonly code: string | number | undefined;
  readonly data: unknown;

  constructor(
    key: string,
    thrown: { name: string; message: string; code?: string | number; data?: unknown },
  ) {
    super(thrown.message);
    this.name = thrown.name;
    this.key = key;
    this.code = thrown.code;
    this.data = thrown.data;
  }
}
