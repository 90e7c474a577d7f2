// The rounds of tools with `once: true`, in the memory of this process.

import { bytesOf } from "../moves.ts";
import { recordBytes } from "../store.ts";
import type { RoundClaimRequest, RoundClaimResult } from "../store.ts";
import type { ClaimRef, Sealed } from "../task.ts";

interface MemoryRound {
  readonly principal: string;
  readonly callId: string;
  readonly round: number;
  readonly answers: string;
  readonly epoch: number;
  readonly leaseUntil: number;
  readonly log: readonly Sealed[];
  readonly response: Sealed | undefined;
  readonly expiresAt: number;
}

/** The rounds of a memory store. */
export class MemoryRounds {
  readonly #now: () => number;
  readonly #rounds = new Map<string, MemoryRound>();

  constructor(now: () => number) {
    this.#now = now;
  }

  claim(claim: RoundClaimRequest): RoundClaimResult {
    const { principal, callId, round, answers, leaseMs, ttlMs } = claim;
    const now = this.#now();
    const before = this.#rounds.get(callId);
    const isLater = before === undefined || before.round < round;
    if (!isLater) {
      if (before.round > round || before.answers !== answers) return { kind: "superseded" };
      if (before.response !== undefined) return { kind: "ended", response: before.response };
      if (before.leaseUntil > now) return { kind: "running" };
    }
    const epoch = (before?.epoch ?? 0) + 1;
    const log = isLater ? [] : before.log;
    const leaseUntil = now + leaseMs;
    // The token of an earlier round may be valid for longer.
    const expiresAt = Math.max(before?.expiresAt ?? 0, now + ttlMs);
    const response = undefined;
    this.#rounds.set(callId, {
      principal,
      callId,
      round,
      answers,
      epoch,
      leaseUntil,
      log,
      response,
      expiresAt,
    });
    return { kind: "run", ref: { id: callId, epoch }, log };
  }

  renew(ref: ClaimRef, leaseMs: number): boolean {
    return this.#move(ref, (round) => ({ ...round, leaseUntil: this.#now() + leaseMs }));
  }

  append(ref: ClaimRef, at: number, record: Sealed): boolean {
    const round = this.#rounds.get(ref.id);
    if (round?.epoch === ref.epoch && round.log.length === at + 1) return true;
    if (round?.log.length !== at) return false;
    return this.#move(ref, (held) => ({ ...held, log: [...held.log, record] }));
  }

  end(ref: ClaimRef, response: Sealed): boolean {
    return this.#move(ref, (round) => ({ ...round, response }));
  }

  release(ref: ClaimRef): boolean {
    return this.#move(ref, (round) => ({ ...round, leaseUntil: this.#now() }));
  }

  /** Deletes the rounds whose time is up, and returns how many there were. */
  sweep(): number {
    const before = this.#rounds.size;
    for (const [id, { expiresAt }] of this.#rounds) {
      if (expiresAt <= this.#now()) this.#rounds.delete(id);
    }
    return before - this.#rounds.size;
  }

  /** The size of the rounds of a caller. */
  bytes(principal: string): number {
    return [...this.#rounds.values()]
      .filter((round) => round.principal === principal)
      .reduce(
        (sum, { log, response = "" }) => sum + bytesOf(log) + response.length + recordBytes,
        0,
      );
  }

  #move({ id, epoch }: ClaimRef, move: (round: MemoryRound) => MemoryRound): boolean {
    const round = this.#rounds.get(id);
    if (round?.epoch !== epoch || round.response !== undefined) return false;
    this.#rounds.set(id, move(round));
    return true;
  }
}
