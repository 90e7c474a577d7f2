// How much of the store each caller uses: its tasks, ended ones included, its spilled states and its recorded rounds.
//
// Asking the store before every write would double the cost of a write. So each process counts what it has written for
// a caller, and asks the store only after another part of the share is used. Each replica may exceed a share by that
// part.

import { ParleyError } from "../errors.ts";
import { tooMuchStored } from "./limits.ts";
import type { TaskLimits } from "./limits.ts";
import type { TaskObserver } from "./observer.ts";
import { recordBytes } from "./store.ts";
import type { StoreUsage, TaskStore } from "./store.ts";

interface Share {
  /** What the store had when it was last asked. */
  known: StoreUsage;
  /** What this process has admitted since then. */
  bytes: number;
  records: number;
  /** How many of these bytes are being written, so that the store may not know them yet. */
  unwritten: number;
  /** How many bytes the writes that wait for the store's answer need. */
  wanted: number;
  /** The request to the store that is under way. Writes that come meanwhile wait for it, too. */
  asking: Promise<void> | undefined;
  /** When the last such question ended. */
  askedAt: number;
}

/** The store is asked after this part of a share. */
const part = 1 / 64;
/** For how many callers a process keeps count. It begins again with a caller that it has forgotten. */
const mostCallers = 10_000;
/** The shortest time between two questions about a caller that is at its limit. */
const askGapMs = 1_000;
const removedAtOnce = 100;
const mostBatches = 100;
/** A running task may record more, so that a caller's new calls are refused before its running tasks fail. */
const growth = 2;

/** The shares of all callers, as this process sees them. */
export class StorageShares {
  readonly #store: TaskStore;
  readonly #limits: TaskLimits;
  readonly #observer: Pick<TaskObserver, "limitReached">;
  readonly #shares = new Map<string, Share>();

  constructor(store: TaskStore, limits: TaskLimits, observer: Pick<TaskObserver, "limitReached">) {
    this.#store = store;
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Makes room for something new of this caller. Rejects with a ParleyError if its share is used up. */
  admit(principal: string, bytes: number, what: string): Promise<void> | undefined {
    return this.#take(principal, bytes, 1, what, this.#limits.storedBytes);
  }

  /**
   * Writes something new of this caller, after making room for it. While it is being written, it counts in addition to
   * what the store says. Otherwise many simultaneous writes would all find the same free room.
   */
  async write<T>(
    principal: string,
    bytes: number,
    what: string,
    writing: () => Promise<T>,
  ): Promise<T> {
    await this.admit(principal, bytes, what);
    const share = this.#shareOf(principal);
    share.unwritten += bytes + recordBytes;
    try {
      return await writing();
    } finally {
      share.unwritten -= bytes + recordBytes;
    }
  }

  /**
   * Makes room for what a call of this caller records while it runs. If the store cannot be asked, the record is not
   * refused: it is written as soon as the store is back, and a call must not fail because of an outage.
   */
  grow(principal: string, bytes: number, what: string): Promise<void> | undefined {
    const room = this.#take(principal, bytes, 0, what, this.#limits.storedBytes * growth);
    return room?.catch((error: unknown) => {
      if (error instanceof ParleyError) throw error;
    });
  }

  #take(
    principal: string,
    bytes: number,
    records: number,
    what: string,
    most: number,
  ): Promise<void> | undefined {
    const share = this.#shareOf(principal);
    const more = bytes + records * recordBytes;
    const { storedBytes, endedTasks } = this.#limits;
    const isSure =
      share.bytes + more <= storedBytes * part && share.records + records <= endedTasks * part;
    if (!isSure || !hasRoom(share, more, most)) {
      return this.#takeKnowing(share, principal, more, records, what, most);
    }
    share.bytes += more;
    share.records += records;
    return undefined;
  }

  async #takeKnowing(
    share: Share,
    principal: string,
    more: number,
    records: number,
    what: string,
    most: number,
  ): Promise<void> {
    // A caller that keeps trying does not keep the store busy with counting.
    const isRecent = performance.now() - share.askedAt < askGapMs;
    if (!isRecent || share.known.bytes + more <= most) {
      share.wanted += more;
      share.asking ??= this.#ask(share, principal);
      await share.asking.finally(() => {
        share.wanted -= more;
      });
    }
    // The writes that waited for the same answer continue one after the other, and each leaves less to the next.
    if (hasRoom(share, more, most)) {
      share.bytes += more;
      share.records += records;
      return;
    }
    const { storedBytes } = this.#limits;
    this.#observer.limitReached(principal, "storedBytesPerPrincipal", storedBytes);
    throw tooMuchStored(what, share.known.bytes + share.bytes, storedBytes);
  }

  /** Asks the store what it keeps for a caller, after ended tasks have made room for what is wanted. */
  async #ask(share: Share, principal: string): Promise<void> {
    const { storedBytes, endedTasks, keepMs } = this.#limits;
    const { records } = share;
    const bytes = share.bytes - share.unwritten;
    try {
      let usage = await this.#store.usage(principal);
      for (let batch = 0; batch < mostBatches; batch += 1) {
        const isTooLarge = usage.bytes + share.wanted > storedBytes;
        const tooMany = Math.max(usage.ended - endedTasks, isTooLarge ? usage.ended / 8 : 0);
        if (tooMany <= 0) break;
        const count = Math.min(removedAtOnce, Math.ceil(tooMany));
        const removed = await this.#store.removeEnded(principal, count, keepMs);
        if (removed === 0) break;
        // The store goes through all tasks of the caller to add up their bytes, so it is asked again only for those.
        usage = isTooLarge
          ? await this.#store.usage(principal)
          : { ...usage, ended: usage.ended - removed };
      }
      share.known = usage;
      // What was being written, or was admitted meanwhile, may not be in the store yet.
      share.bytes -= Math.max(0, bytes);
      share.records -= records;
    } finally {
      share.asking = undefined;
      share.askedAt = performance.now();
    }
  }

  #shareOf(principal: string): Share {
    const known = this.#shares.get(principal);
    if (known !== undefined) return known;
    const [oldest] = this.#shares.keys();
    if (this.#shares.size >= mostCallers && oldest !== undefined) this.#shares.delete(oldest);
    const share = {
      known: { live: 0, ended: 0, bytes: 0 },
      bytes: 0,
      records: 0,
      unwritten: 0,
      wanted: 0,
      asking: undefined,
      askedAt: -askGapMs,
    };
    this.#shares.set(principal, share);
    return share;
  }
}

const hasRoom = ({ known, bytes }: Share, more: number, most: number): boolean =>
  known.bytes + bytes + more <= most;
