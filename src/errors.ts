// The three errors that the author of a handler meets. Every layer may import this file, so it imports nothing.

/** What is wrong with a handler or with the configuration of an app. */
export type ParleyErrorCode =
  /** A question or step was not awaited. */
  | "not_awaited"
  /** A key is not a string, is empty or too long, contains "~", or is "__proto__". */
  | "bad_key"
  /** An option has a value that is not allowed. */
  | "bad_option"
  /** A handler returned something that does not fit its kind or its `outputSchema`. */
  | "bad_result"
  /** Two operations of one run have the same key. */
  | "duplicate_key"
  /** A question or a sleep is inside a step. */
  | "ask_in_step"
  /** A step, `background()` or `checkpoint()` is inside a step. */
  | "step_in_step"
  /** A value that has to be stored would not survive JSON. */
  | "not_json"
  /** A schema cannot be shown as a form. */
  | "not_askable"
  /** A handler uses both `ctx` operations and `inputRequired()`. */
  | "mixed_styles"
  /** `ctx` was used after the handler had ended, or a promise of an earlier run is awaited. */
  | "ctx_after_return"
  /** The handler does not do what it did earlier in the same call. */
  | "history_changed"
  /** The wording of a question keeps changing within a call. */
  | "unstable_question"
  /** Callers are not verified, so anyone could see or use what only some may. */
  | "no_auth"
  /** The app has no key to seal state with. */
  | "no_keys"
  /** A page needs the app's public address, which is not configured. */
  | "no_url"
  /** The caller's account at another service can no longer be used. */
  | "not_connected"
  /** The app needs a store but does not have one. */
  | "no_store"
  /** A task was created, but no worker runs on its store. */
  | "no_worker"
  /** The verified authorization of a request does not name a user. */
  | "no_principal"
  /** The state of a call does not fit into its token. */
  | "token_too_large"
  /** A call has more rounds than `limits` allows. */
  | "too_many_rounds"
  /** A principal would have more live tasks than `limits` allows. */
  | "too_many_tasks"
  /** A principal would have more paused calls than `limits` allows. */
  | "too_many_paused"
  /** A task has more questions open at a time than `limits` allows. */
  | "too_many_questions"
  /** The journal of a task is larger than `limits` allows. */
  | "log_too_large"
  /** A principal would have more in the store than `limits` allows. */
  | "too_much_stored"
  /** The ticket in a link is invalid or has expired. */
  | "bad_ticket";

/** A mistake in a handler or in the configuration. The message says what happened and what to write instead. */
export class ParleyError extends Error {
  /** What is wrong, for programs. */
  readonly code: ParleyErrorCode;

  constructor(code: ParleyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ParleyError";
    this.code = code;
  }
}

/**
 * Why a question has no answer: the person declined it, cancelled it or did not answer in time, or this client does not
 * support it.
 */
export type UnansweredReason = "declined" | "cancelled" | "timed_out" | "unsupported";

/** What one person decided about an approval. */
export interface Decision {
  /** The person, as `pages.authorize` or `app.decide` names them. For an approval by the caller: the caller. */
  readonly who: string;
  /** Whether the person agreed. */
  readonly isApproved: boolean;
  /** When. */
  readonly at: Date;
  /** How the decision came. "link": on the page. "delivery": by `app.decide`. The others are the ways of a question. */
  readonly via: "form" | "url" | "app" | "relay" | "link" | "delivery" | "console";
  /** What the person wrote beside it. */
  readonly note?: string | undefined;
}

/**
 * A question has no answer. `ctx.ask` and the other questions reject with it. If the handler does not catch it, the call
 * ends with a result that says so.
 */
export class UnansweredError extends Error {
  /** The key of the question. */
  readonly key: string;
  /** Why there is no answer. */
  readonly reason: UnansweredReason;
  /** For an approval that was declined: what was decided, the refusal last. Otherwise empty. */
  readonly decisions: readonly Decision[];

  constructor(key: string, reason: UnansweredReason, decisions: readonly Decision[] = []) {
    const last = decisions.at(-1);
    super(
      last === undefined
        ? `Question "${key}" was ${sentence[reason]}.`
        : `Approval "${key}" was declined by ${last.who}${last.note === undefined ? "" : `: ${last.note}`}`,
    );
    this.name = "UnansweredError";
    this.key = key;
    this.reason = reason;
    this.decisions = decisions;
  }
}

const sentence: Record<UnansweredReason, string> = {
  declined: "declined",
  cancelled: "cancelled without an answer",
  timed_out: "not answered in time",
  unsupported: "not asked, because this client does not support it",
};

/** What JSON preserves of an error that a step's body threw. */
export interface ThrownError {
  /** The error's `name`. */
  readonly name: string;
  /** The error's `message`. */
  readonly message: string;
  /** The error's `code`, if it had one. */
  readonly code?: string | number;
  /** The error's `data`, if JSON can hold it. */
  readonly data?: unknown;
}

/**
 * A step failed: its body threw, and so did all of its retries. The error that the body threw exists only while the body
 * runs. This one has what JSON preserves of it, so that the handler sees the same in every run. Its `name` and `message` are
 * those of the body's error.
 */
export class StepError extends Error {
  /** The key of the step. */
  readonly key: string;
  /** The `code` of the error that the body threw, if it had one. */
  readonly code: string | number | undefined;
  /** The `data` of the error that the body threw, if JSON can hold it. */
  readonly data: unknown;

  constructor(key: string, thrown: ThrownError) {
    super(thrown.message);
    this.name = thrown.name;
    this.key = key;
    this.code = thrown.code;
    this.data = thrown.data;
  }
}
