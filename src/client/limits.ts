// How far a call goes with a server that does not come to an end.

export interface ClientLimits {
  /** Rounds with questions. Default 10. */
  readonly rounds?: number | undefined;
  /** Rounds without: the server hands its work back. Default 50. */
  readonly stateRounds?: number | undefined;
  /** Questions of one task, or pushed in one call of 2025-11-25. Default 1000. */
  readonly taskQuestions?: number | undefined;
  /** Of one answer or event. Default 16 MiB. */
  readonly messageBytes?: number | undefined;
  /** The longest silence of a server that owes an answer. Default a minute. */
  readonly silenceMs?: number | undefined;
  /** For how long a task's server may be away before its task is given up. Default two minutes. */
  readonly outageMs?: number | undefined;
}

export type Limits = { readonly [Name in keyof ClientLimits]-?: number };

export function limitsOf(given: ClientLimits = {}): Limits {
  return {
    rounds: given.rounds ?? 10,
    stateRounds: given.stateRounds ?? 50,
    taskQuestions: given.taskQuestions ?? 1_000,
    messageBytes: given.messageBytes ?? 16 * 1_024 * 1_024,
    silenceMs: given.silenceMs ?? 60_000,
    outageMs: given.outageMs ?? 120_000,
  };
}
