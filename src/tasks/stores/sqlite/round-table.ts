// The statements on rounds: who runs which, and what came of it.

import type { Sealed } from "../../task.ts";
import type { Database, Row } from "./driver.ts";

export interface Round {
  readonly callId: string;
  readonly round: number;
  readonly answers: string;
  readonly epoch: number;
  readonly leaseUntil: number;
  readonly logLength: number;
  readonly response: Sealed | undefined;
  readonly expiresAt: number;
}

export class RoundTable {
  readonly #byCall;
  readonly #put;
  readonly #readLog;
  readonly #appendLog;
  readonly #deleteLog;
  readonly #sweep;

  constructor({ prepare }: Database) {
    this.#byCall = prepare("select * from rounds where call_id = ?");
    this.#put = prepare(`insert into rounds
      (call_id, round, answers, epoch, lease_until, log_length, response, expires_at)
      values (?, ?, ?, ?, ?, ?, ?, ?)
      on conflict (call_id) do update set round = excluded.round, answers = excluded.answers,
        epoch = excluded.epoch, lease_until = excluded.lease_until,
        log_length = excluded.log_length, response = excluded.response,
        expires_at = excluded.expires_at`);
    this.#readLog = prepare("select record from round_log where call_id = ? order by seq");
    this.#appendLog = prepare("insert into round_log (call_id, seq, record) values (?, ?, ?)");
    this.#deleteLog = prepare("delete from round_log where call_id = ?");
    this.#sweep = prepare(`delete from rounds where call_id in (
      select call_id from rounds where expires_at <= ? order by expires_at limit ?)`);
  }

  readonly byCall = (callId: string): Round | undefined => {
    const [row] = this.#byCall.all(callId);
    return row === undefined ? undefined : roundOf(row);
  };

  readonly put = (round: Round): void => {
    this.#put.run(
      round.callId,
      round.round,
      round.answers,
      round.epoch,
      round.leaseUntil,
      round.logLength,
      round.response ?? null,
      round.expiresAt,
    );
  };

  readonly log = (callId: string): readonly Sealed[] =>
    this.#readLog.all(callId).map((row) => String(row["record"]));

  readonly appendLog = (callId: string, at: number, record: Sealed): void =>
    this.#appendLog.run(callId, at, record);

  readonly deleteLog = (callId: string): void => this.#deleteLog.run(callId);

  readonly sweep = (now: number, limit: number): void => this.#sweep.run(now, limit);
}

interface RoundRow {
  readonly call_id: string;
  readonly round: number;
  readonly answers: string;
  readonly epoch: number;
  readonly lease_until: number;
  readonly log_length: number;
  readonly response: string | null;
  readonly expires_at: number;
}

function roundOf(columns: Row): Round {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table is strict, and written above
  const row = columns as unknown as RoundRow;
  return {
    callId: row.call_id,
    round: row.round,
    answers: row.answers,
    epoch: row.epoch,
    leaseUntil: row.lease_until,
    logLength: row.log_length,
    response: row.response ?? undefined,
    expiresAt: row.expires_at,
  };
}
