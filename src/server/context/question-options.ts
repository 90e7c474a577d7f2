// The options of questions that the client can be asked, and what `ctx.elicit` takes and returns.

/** The time limit of a question. */
export interface TimeLimit {
  /** How long the question waits, in milliseconds. It then throws `UnansweredError` with the reason "timed_out". Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** The options of every question that the client can show as a form. */
export type QuestionOptions = TimeLimit & {
  /** Also accepts an answer that was sent before the question was asked. Off by default, because such an answer is not bound to the question. */
  readonly unsolicited?: boolean | undefined;
} & QuestionPrivacy;

/** Which ways to the person a question may take. */
export type QuestionPrivacy =
  | {
      /** The answer is a secret, such as a password. It goes through a page only, never through a client's form or a model. */
      readonly sensitive: true;
      /** A secret never goes through a model. */
      readonly relay?: false | undefined;
    }
  | {
      /** The answer is a secret, such as a password. It goes through a page only. Default: false. */
      readonly sensitive?: false | undefined;
      /** If the client offers nothing better, the model may ask in the chat and pass the answer on. Default: false. */
      readonly relay?: boolean | undefined;
    };

/** One choice of `ctx.choose` with a title. */
export interface Choice<V extends string = string> {
  /** What `ctx.choose` returns. */
  readonly value: V;
  /** What the person sees. */
  readonly title: string;
}

/** What `ctx.elicit` asks. */
export interface ElicitParams<S> {
  /** The question to show. */
  readonly message: string;
  /** The schema of the form. */
  readonly requestedSchema: S;
}

/** What `ctx.elicit` returns. */
export type ElicitOutcome<T> =
  | {
      /** The person answered. */
      readonly action: "accept";
      /** The answer, checked with the schema. */
      readonly content: T;
    }
  | {
      /** The person declined, or closed the form. */
      readonly action: "decline" | "cancel";
    };

/** The options of `ctx.checkpoint`. */
export interface CheckpointOptions {
  /** How long a round must have been running before a checkpoint ends it, in milliseconds. Default: 0. */
  readonly afterMs?: number | undefined;
}

/** The options of `ctx.confirm`. */
export interface ConfirmOptions extends TimeLimit {
  /**
   * If the client offers nothing better, the model may ask in the chat and pass the answer on. The model's word is then the
   * only proof, so this has no effect over HTTP for callers who are not verified. Default: false.
   */
  readonly relay?: boolean | undefined;
}
