// What a store does for the audit. Records are only added, and deleted when they are old enough. Each belongs to a chain,
// which is that of a call, and has a number in it. The server seals them so that each depends on the one before.

import type { Sealed } from "./task.ts";

/** The audit in a store. Every time is the store's own, in milliseconds since 1970. */
export interface AuditStore {
  /** The end of a chain, and which of these ids it has. */
  readonly tail: (chain: string, ids: readonly string[]) => Promise<AuditTail>;
  /**
   * Adds records after the record with the number `after`, all of them or none. Resolves to false, and writes nothing, if the
   * chain has another end by now, or has one of the ids.
   */
  readonly append: (
    chain: string,
    after: number,
    records: readonly NewAuditEntry[],
  ) => Promise<boolean>;
  /** Reads a chain, in the order of its numbers. */
  readonly readChain: (chain: string) => Promise<readonly AuditEntry[]>;
  /** Reads up to `limit` records after a place, in the order of their time, their chain and their number. */
  readonly readAfter: (
    place: AuditPlace | undefined,
    limit: number,
  ) => Promise<readonly AuditEntry[]>;
  /**
   * Deletes up to `limit` chains whose last record is more than `keepMs` milliseconds old. Resolves to how many it deleted.
   * Chains are deleted whole, so that what is left can be checked.
   */
  readonly sweep: (keepMs: number, limit: number) => Promise<number>;
}

/** The end of a chain. */
export interface AuditTail {
  /** The number of the last record, or 0. */
  readonly n: number;
  /** The last record. Undefined if the chain has none. */
  readonly record: Sealed | undefined;
  /** Those of the ids that the chain has. */
  readonly known: readonly string[];
}

/** A record to add. */
export interface NewAuditEntry {
  /** Of the record. The chain has each id once. */
  readonly id: string;
  /** The server that it belongs to. */
  readonly app: string;
  /** What is recorded. */
  readonly record: Sealed;
}

/** A place among all records. */
export interface AuditPlace {
  /** When the record was added. */
  readonly at: number;
  /** The chain that it belongs to. */
  readonly chain: string;
  /** Its number in the chain, from 1. */
  readonly n: number;
}

/** A record as the store keeps it. */
export interface AuditEntry extends NewAuditEntry, AuditPlace {}
