// The statements on rounds: which replica runs which round, and its response.

import type { RoundClaimRequest, RoundClaimResult } from "../../store.ts";
import type { Sealed } from "../../task.ts";
import { columnWriter } from "../columns.ts";
import type { Columns } from "../columns.ts";
import type { SqliteDatabase, SqliteRow } from "./driver.ts";
import { bytesIn, removableOf } from "./row-sizes.ts";
import type { Removable } from "./row-sizes.ts";

/** A round as a row keeps it. Its log is a table of its own. */
export interface RoundRecord {
  readonly callId: string;
  readonly round: number;
  readonly answers: string;
  readonly epoch: number;
  readonly leaseUntil: number;
  readonly logLength: number;
  readonly response: Sealed | undefined;
  readonly expiresAt: number;
  readonly principal: string | undefined;
}

const roundColumns: Columns<RoundRecord> = {
  callId: { name: "call_id", kind: "text", isFixed: true },
  round: { name: "round", kind: "integer", isFixed: false },
  answers: { name: "answers", kind: "text", isFixed: false },
  epoch: { name: "epoch", kind: "integer", isFixed: false },
  leaseUntil: { name: "lease_until", kind: "integer", isFixed: false },
  logLength: { name: "log_length", kind: "integer", isFixed: false },
  response: { name: "response", kind: "text", isFixed: false },
  expiresAt: { name: "expires_at", kind: "integer", isFixed: false },
  principal: { name: "principal", kind: "text", isFixed: false },
};
const whole = columnWriter<RoundRecord>(roundColumns);
const changing = columnWriter<RoundRecord>(roundColumns, ({ isFixed }) => !isFixed);

/** The tables of rounds and their logs. */
export class RoundTable {
  readonly #byCall;
  readonly #put;
  readonly #readLog;
  readonly #appendLog;
  readonly #deleteLog;
  readonly #expired;
  readonly #delete;
  readonly #usage;

  constructor({ prepare }: SqliteDatabase) {
    this.#byCall = prepare("select * from rounds where call_id = ?");
    this.#put = prepare(`insert into rounds (${whole.names.join(", ")})
      values (${whole.names.map(() => "?").join(", ")})
      on conflict (call_id) do update set
        ${changing.names.map((name) => `${name} = excluded.${name}`).join(", ")}`);
    this.#readLog = prepare("select record from round_log where call_id = ? order by seq");
    this.#appendLog = prepare("insert into round_log (call_id, seq, record) values (?, ?, ?)");
    this.#deleteLog = prepare("delete from round_log where call_id = ?");
    const logBytes = `(select coalesce(sum(octet_length(record)), 0) from round_log
      where round_log.call_id = rounds.call_id)`;
    const bytes = `${logBytes} + coalesce(octet_length(response), 0)`;
    this.#expired = prepare(`select call_id as id, ${bytes} as bytes from rounds
      where expires_at <= ? order by expires_at limit ?`);
    this.#delete = prepare("delete from rounds where call_id in (select value from json_each(?))");
    this.#usage = prepare(`select count(*) as rows, coalesce(sum(${bytes}), 0) as bytes
      from rounds where principal = ?`);
  }

  /** Decides whether the caller runs this round, inside a transaction that has the write lock. */
  readonly claim = (claim: RoundClaimRequest, now: number): RoundClaimResult => {
    const { principal, callId, round, answers, leaseMs, ttlMs } = claim;
    const before = this.byCall(callId);
    const isLater = before === undefined || before.round < round;
    if (!isLater) {
      if (before.round > round || before.answers !== answers) return { kind: "superseded" };
      if (before.response !== undefined) return { kind: "ended", response: before.response };
      if (before.leaseUntil > now) return { kind: "running" };
    }
    if (isLater) this.deleteLog(callId);
    const epoch = (before?.epoch ?? 0) + 1;
    const log = this.log(callId);
    this.put({
      callId,
      round,
      answers,
      epoch,
      leaseUntil: now + leaseMs,
      logLength: log.length,
      response: undefined,
      expiresAt: Math.max(before?.expiresAt ?? 0, now + ttlMs),
      principal,
    });
    return { kind: "run", ref: { id: callId, epoch }, log };
  };

  readonly byCall = (callId: string): RoundRecord | undefined => {
    const [row] = this.#byCall.all(callId);
    return row === undefined ? undefined : roundOf(row);
  };

  readonly put = (round: RoundRecord): void => this.#put.run(...whole.valuesOf(round));

  readonly log = (callId: string): readonly Sealed[] =>
    this.#readLog.all(callId).map((row) => String(row["record"]));

  readonly appendLog = (callId: string, at: number, record: Sealed): void =>
    this.#appendLog.run(callId, at, record);

  readonly deleteLog = (callId: string): void => this.#deleteLog.run(callId);

  readonly expired = (now: number, limit: number): readonly Removable[] =>
    this.#expired.all(now, limit).map(removableOf);

  readonly delete = (callIds: readonly string[]): void => {
    if (callIds.length > 0) this.#delete.run(JSON.stringify(callIds));
  };

  readonly bytes = (principal: string): number => bytesIn(this.#usage.all(principal));
}

function roundOf(row: SqliteRow): RoundRecord {
  const record: Record<string, unknown> = {};
  for (const [field, { name }] of Object.entries(roundColumns)) {
    record[field] = row[name] ?? undefined;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table is strict, and its columns are above
  return record as unknown as RoundRecord;
}
