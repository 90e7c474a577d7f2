// How much of the store each caller uses: its tasks, ended ones included, its spilled states and its recorded rounds.
//
// Asking the store before every write would double the cost of a write. So each process counts what it has written for
// a caller, and asks the store only after another part of the share is used. Each replica may exceed a share by that
// part.
//
// To add up the bytes of a caller, a store goes through all of its tasks. A caller with many small tasks uses up a part of
// its number of ended tasks long before a part of its bytes. Then the store only counts the ended tasks. Results are not
// admitted, so a caller whose results suddenly become large is noticed when its bytes are added up next.

import { ParleyError } from "../errors.ts";
import { tooMuchStored } from "./limits.ts";
import type { TaskLimits } from "./limits.ts";
import type { TaskObserver } from "./observer.ts";
import { recordBytes } from "./store.ts";
import type { StoreUsage, TaskStore } from "./store.ts";

interface Share {
  /** What the store had when it last added up the bytes. Undefined if it has not done so yet. */
  known: StoreUsage | undefined;
  /** What this process has admitted since then. */
  bytes: number;
  /** How many records it has admitted since then. */
  unmeasured: number;
  /** How many records it has admitted since the store last counted, with or without the bytes. */
  records: number;
  /** How many of these bytes are being written, so that the store may not know them yet. */
  unwritten: number;
  /** How many bytes the writes that wait for the store's answer need. */
  wanted: number;
  /** The request to the store that is under way. Writes that come meanwhile wait for it, too. */
  asking: Promise<void> | undefined;
  /** When the last such request ended. */
  askedAt: number;
  /** The request under way that only counts ended tasks, and whether it succeeds. It does not set `askedAt`. */
  counting: Promise<boolean> | undefined;
}

/** Room that is wanted. */
interface Need {
  readonly principal: string;
  readonly bytes: number;
  /** How many tasks, states or rounds are new. */
  readonly records: number;
  /** How errors name it. */
  readonly what: string;
  /** The most that the caller may have with it. */
  readonly most: number;
  /** Whether it is written next, and counts as unwritten until then. */
  readonly isWritten: boolean;
}

/** The store is asked after this part of a share. */
const part = 1 / 64;
/** The bytes are added up at the latest after this part of the ended tasks, because tasks may become larger than before. */
const measuredPart = 1 / 8;
/**
 * For how many callers a process keeps count. It begins again with a caller that it has forgotten, even if a write of that
 * caller is under way.
 */
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
    return this.#take(this.#shareOf(principal), this.#new(principal, bytes, what, false));
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
    const share = this.#shareOf(principal);
    const need = this.#new(principal, bytes, what, true);
    await this.#take(share, need);
    try {
      return await writing();
    } finally {
      share.unwritten -= need.bytes;
    }
  }

  /**
   * Makes room for what a call of this caller records while it runs. If the store cannot be asked, the record is not
   * refused: it is written as soon as the store is back, and a call must not fail because of an outage.
   */
  grow(principal: string, bytes: number, what: string): Promise<void> | undefined {
    const most = this.#limits.storedBytes * growth;
    const need = { principal, bytes, records: 0, what, most, isWritten: false };
    return this.#take(this.#shareOf(principal), need)?.catch((error: unknown) => {
      if (error instanceof ParleyError) throw error;
    });
  }

  #new(principal: string, sealed: number, what: string, isWritten: boolean): Need {
    const most = this.#limits.storedBytes;
    return { principal, bytes: sealed + recordBytes, records: 1, what, most, isWritten };
  }

  #take(share: Share, need: Need): Promise<void> | undefined {
    const { storedBytes, endedTasks } = this.#limits;
    const isSure =
      share.bytes + need.bytes <= storedBytes * part &&
      share.records + need.records <= endedTasks * part;
    if (!isSure || !hasRoom(share, need)) return this.#takeKnowing(share, need);
    taken(share, need);
    return undefined;
  }

  async #takeKnowing(share: Share, need: Need): Promise<void> {
    share.wanted += need.bytes;
    try {
      let isEnough = share.asking === undefined && this.#isMeasured(share, need);
      if (isEnough) {
        const isCounted = await this.#counted(share, need.principal);
        // The writes that waited for the same count continue one after the other, and may have used up what was sure.
        isEnough = isCounted && this.#isMeasured(share, need);
      }
      if (!isEnough) {
        // A caller that keeps trying does not keep the store busy with counting.
        const isRecent = performance.now() - share.askedAt < askGapMs;
        if (!isRecent || bytesOf(share.known) + need.bytes <= need.most) {
          await (share.asking ??= this.#ask(share, need.principal));
        }
      }
    } finally {
      share.wanted -= need.bytes;
    }
    // The writes that waited for the same answer continue one after the other, and each leaves less to the next.
    if (hasRoom(share, need)) {
      taken(share, need);
      return;
    }
    const { storedBytes } = this.#limits;
    this.#observer.limitReached(need.principal, "storedBytesPerPrincipal", storedBytes);
    throw tooMuchStored(need.what, bytesOf(share.known) + share.bytes, storedBytes);
  }

  /**
   * Whether there is room by what is known, so that no bytes have to be added up. Results and questions are not admitted, so
   * new records are expected to become as large as those that the caller has.
   */
  #isMeasured(share: Share, need: Need): boolean {
    const { known, bytes, unmeasured } = share;
    if (known === undefined || this.#store.countEnded === undefined) return false;
    const { storedBytes, endedTasks } = this.#limits;
    const expected = (unmeasured * known.bytes) / Math.max(1, known.live + known.ended);
    return (
      Math.max(bytes + need.bytes, expected) <= storedBytes * part &&
      unmeasured <= endedTasks * measuredPart &&
      hasRoom(share, need)
    );
  }

  /** Asks the store what it keeps for a caller, after ended tasks have made room for what is wanted. */
  async #ask(share: Share, principal: string): Promise<void> {
    const { storedBytes, endedTasks } = this.#limits;
    try {
      // Both remove ended tasks. At the same time they would remove twice as many.
      await share.counting;
      const { records, unmeasured } = share;
      const bytes = share.bytes - share.unwritten;
      let usage = await this.#store.usage(principal);
      for (let batch = 0; batch < mostBatches; batch += 1) {
        const isTooLarge = usage.bytes + share.wanted > storedBytes;
        const tooMany = Math.max(usage.ended - endedTasks, isTooLarge ? usage.ended / 8 : 0);
        if (tooMany <= 0) break;
        const removed = await this.#removeSome(principal, tooMany);
        if (removed === 0) break;
        // The store goes through all tasks of the caller to add up their bytes, so it is asked again only for those.
        usage = isTooLarge
          ? await this.#store.usage(principal)
          : { ...usage, ended: usage.ended - removed };
      }
      share.known = usage;
      // What was being written, or was admitted meanwhile, may not be in the store yet.
      share.bytes -= bytes;
      share.unmeasured -= unmeasured;
      share.records -= records;
    } finally {
      share.asking = undefined;
      share.askedAt = performance.now();
    }
  }

  /** Counts once for all writes that wait for it. Whether that worked: if it did not, adding up may. */
  #counted(share: Share, principal: string): Promise<boolean> {
    const ended = (isCounted: boolean) => {
      share.counting = undefined;
      return isCounted;
    };
    share.counting ??= this.#count(share, principal).then(
      () => ended(true),
      () => ended(false),
    );
    return share.counting;
  }

  /** Counts the ended tasks of a caller, and removes those that are too many. What is known of its bytes stays. */
  async #count(share: Share, principal: string): Promise<void> {
    const { endedTasks } = this.#limits;
    const { records } = share;
    let ended = (await this.#store.countEnded?.(principal)) ?? 0;
    for (let batch = 0; batch < mostBatches && ended > endedTasks; batch += 1) {
      const removed = await this.#removeSome(principal, ended - endedTasks);
      if (removed === 0) break;
      ended -= removed;
    }
    share.records -= records;
  }

  /** Removes as many of the ended tasks that are too many as one statement should. Resolves to how many those were. */
  #removeSome(principal: string, tooMany: number): Promise<number> {
    const count = Math.min(removedAtOnce, Math.ceil(tooMany));
    return this.#store.removeEnded(principal, count, this.#limits.keepMs);
  }

  #shareOf(principal: string): Share {
    const known = this.#shares.get(principal);
    if (known !== undefined) return known;
    const [oldest] = this.#shares.keys();
    if (this.#shares.size >= mostCallers && oldest !== undefined) this.#shares.delete(oldest);
    const share = {
      known: undefined,
      bytes: 0,
      unmeasured: 0,
      records: 0,
      unwritten: 0,
      wanted: 0,
      asking: undefined,
      askedAt: -askGapMs,
      counting: undefined,
    };
    this.#shares.set(principal, share);
    return share;
  }
}

const bytesOf = (known: StoreUsage | undefined): number => known?.bytes ?? 0;

const hasRoom = ({ known, bytes }: Share, need: Need): boolean =>
  bytesOf(known) + bytes + need.bytes <= need.most;

function taken(share: Share, { bytes, records, isWritten }: Need): void {
  share.bytes += bytes;
  share.records += records;
  share.unmeasured += records;
  if (isWritten) share.unwritten += bytes;
}
