// How much a client takes from a server before it gives up a call.

/** Protects a client from a server that never finishes, sends too much, or goes silent. */
export interface ClientLimits {
  /** How many rounds of one call may ask questions. Default: 10. */
  readonly rounds?: number | undefined;
  /** How many rounds of one call may return state without asking anything. Default: 50. */
  readonly stateRounds?: number | undefined;
  /** How many questions one task, or one call in a 2025-11-25 session, may ask. Default: 1000. */
  readonly taskQuestions?: number | undefined;
  /** The size of one response, or of one event of a stream, in bytes. Default: 16 MiB. */
  readonly messageBytes?: number | undefined;
  /**
   * How much a call may stream, in bytes of all its blocks together. Beyond that, every block is reset and no more parts are
   * reported. The result is not affected. Default: 16 MiB.
   */
  readonly streamBytes?: number | undefined;
  /** How long a server may send nothing while a request is open, in milliseconds. Default: 60 000 (one minute). */
  readonly silenceMs?: number | undefined;
  /** How long the server of a task may be unreachable, in milliseconds. Default: 120 000 (two minutes). */
  readonly outageMs?: number | undefined;
  /**
   * How long the journal keeps a call that the server refuses to continue, in milliseconds after the last thing that
   * happened in it. A task is kept at least as long as the server keeps it. Default: 604 800 000 (seven days).
   */
  readonly refusedMs?: number | undefined;
}

/** The limits with all defaults filled in. */
export type Limits = { readonly [Name in keyof ClientLimits]-?: number };

/** Fills in the defaults. */
export function limitsOf(given: ClientLimits = {}): Limits {
  return {
    rounds: given.rounds ?? 10,
    stateRounds: given.stateRounds ?? 50,
    taskQuestions: given.taskQuestions ?? 1_000,
    messageBytes: given.messageBytes ?? 16 * 1_024 * 1_024,
    streamBytes: given.streamBytes ?? 16 * 1_024 * 1_024,
    silenceMs: given.silenceMs ?? 60_000,
    outageMs: given.outageMs ?? 120_000,
    refusedMs: given.refusedMs ?? 7 * 86_400_000,
  };
}
