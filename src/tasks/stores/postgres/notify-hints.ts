// Hints that something may have changed, sent to the other replicas with NOTIFY. A hint may be lost, so nothing
// depends on it.
//
// One hint covers many changes. It is sent outside of every transaction, because a transaction that notifies takes a
// lock on the whole database when it commits.

import { onFirstUse } from "../../../util/on-first-use.ts";
import { backOff, unref } from "../../../util/timers.ts";
import { partsHint } from "../parts-hint.ts";
import type { ChangeHint, TaskStore } from "../../store.ts";
import type { PostgresClient } from "./pool.ts";

/** Postgres takes payloads of less than 8000 bytes. */
const mostBytes = 7_900;
/** How long changes are collected before they are sent. */
const gatherMs = 5;

/** How hints reach the database and come back. */
export interface NotifyChannel {
  readonly notify: (payload: string) => Promise<unknown>;
  /** Opens a connection that is used for listening only. Undefined if there is none to spare. */
  readonly connect: () => Promise<PostgresClient | undefined>;
}

/** The hints of one Postgres store. */
export class NotifyHints {
  readonly #channel: string;
  readonly #wire: NotifyChannel;
  /** Each listener, with the tasks whose records it wants. */
  readonly #listeners = new Map<(hint: ChangeHint) => void, (id: string) => boolean>();
  /** Marks the hints of this store, which its own listeners have received already. */
  readonly #sender = onFirstUse(() => Math.random().toString(36).slice(2));
  /** The ids of changed tasks, and whether a worker should claim them. */
  #changed = new Map<string, boolean>();
  /** The ids of tasks whose parts have changed. */
  #parts = new Set<string>();
  #sending: NodeJS.Timeout | undefined;
  #client: PostgresClient | undefined;
  #isConnecting = false;
  /** Whether what is sent comes back. Behind a pooler, a connection can listen and hear nothing. */
  #isHearing = false;
  #again: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(channel: string, wire: NotifyChannel) {
    this.#channel = channel;
    this.#wire = wire;
  }

  get isHearing(): boolean {
    return this.#isHearing && this.#client !== undefined;
  }

  readonly subscribe: TaskStore["subscribe"] = (listener, wants = () => false) => {
    // The same listener may subscribe twice, so each subscription gets its own function.
    const own = (hint: ChangeHint) => listener(hint);
    this.#listeners.set(own, wants);
    void this.#listen();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#hangUp();
    };
  };

  /** Whether a listener in this process wants the record of this task. */
  readonly isWanted = (id: string): boolean => {
    for (const wants of this.#listeners.values()) if (wants(id)) return true;
    return false;
  };

  /** Listeners in this process learn of a change at once, and those of other replicas a few milliseconds later. */
  readonly changed = (
    ids: readonly string[],
    { isDue = false, isNews = true, task }: Omit<ChangeHint, "id"> = {},
  ): void => {
    if (this.#isClosed || ids.length === 0) return;
    for (const id of ids) this.#changed.set(id, isDue);
    queueMicrotask(() => {
      for (const id of ids) this.#announce({ id, isDue, isNews, task });
    });
    this.#sending ??= setTimeout(() => void this.#send(), gatherMs);
  };

  /** The parts of a running stream have changed, or the stream is recorded. */
  readonly partsChanged = (id: string): void => {
    if (this.#isClosed) return;
    this.#parts.add(id);
    queueMicrotask(() => this.#announce(partsHint(id)));
    this.#sending ??= setTimeout(() => void this.#send(), gatherMs);
  };

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#hangUp();
    if (this.#sending !== undefined) await this.#send();
  };

  async #send(): Promise<void> {
    clearTimeout(this.#sending);
    this.#sending = undefined;
    const changed = [...this.#changed];
    this.#changed = new Map();
    const ids = changed.flatMap(([id, isDue]) => (isDue ? [] : [id]));
    const due = changed.flatMap(([id, isDue]) => (isDue ? [id] : []));
    const parts = [...this.#parts];
    this.#parts = new Set();
    const payload = JSON.stringify({
      from: this.#sender(),
      ids,
      due,
      // Earlier versions do not read it.
      ...(parts.length === 0 ? {} : { parts }),
    });
    const isShort = Buffer.byteLength(payload) <= mostBytes;
    const any = JSON.stringify({ from: this.#sender() });
    await this.#wire.notify(isShort ? payload : any).catch(() => {});
  }

  async #listen(): Promise<void> {
    if (this.#client !== undefined || this.#isConnecting || !this.#isWanted()) return;
    this.#isConnecting = true;
    let client: PostgresClient | undefined;
    try {
      client = await this.#wire.connect();
      if (client === undefined) return;
      await this.#open(client);
    } catch {
      client?.release(true);
      this.#tryLater();
    } finally {
      this.#isConnecting = false;
    }
  }

  async #open(client: PostgresClient): Promise<void> {
    let isOver = false;
    const lost = () => {
      if (isOver) return;
      isOver = true;
      if (this.#client !== client) return;
      this.#client = undefined;
      client.release(true);
      this.#tryLater();
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    await client.query(`listen "${this.#channel}"`);
    if (isOver) throw new Error("The connection was lost.");
    this.#client = client;
    this.#failures = 0;
    if (!this.#isWanted()) return this.#hangUp();
    // Hints from before this moment are lost, so anything may have changed.
    this.#announce({ id: undefined });
    this.#isHearing = false;
    const nothing = JSON.stringify({ from: this.#sender(), ids: [], due: [] });
    void this.#wire.notify(nothing).catch(() => {});
  }

  #isWanted(): boolean {
    return this.#listeners.size > 0 && !this.#isClosed;
  }

  #tryLater(): void {
    if (!this.#isWanted() || this.#again !== undefined) return;
    this.#failures += 1;
    const waitMs = backOff(this.#failures, { firstMs: 100, mostMs: 10_000 });
    const again = () => {
      this.#again = undefined;
      void this.#listen();
    };
    this.#again = unref(setTimeout(again, waitMs));
  }

  #hangUp(): void {
    clearTimeout(this.#again);
    this.#again = undefined;
    const client = this.#client;
    this.#client = undefined;
    client?.release(true);
  }

  #hear(payload: string): void {
    const { from, ids, due, parts = [] } = read(payload);
    if (from === this.#sender()) {
      this.#isHearing = true;
      return;
    }
    if (ids === undefined || due === undefined) return this.#announce({ id: undefined });
    for (const id of ids) this.#announce({ id, isDue: false });
    for (const id of due) this.#announce({ id, isDue: true });
    for (const id of parts) this.#announce(partsHint(id));
  }

  #announce(hint: ChangeHint): void {
    for (const listener of this.#listeners.keys()) listener(hint);
  }
}

/** Every user of the database can send any payload. One that this code did not write means that anything may have changed. */
function read(payload: string): {
  from?: unknown;
  ids?: readonly string[];
  due?: readonly string[];
  parts?: readonly string[];
} {
  try {
    const said: { [member: string]: unknown } | null = JSON.parse(payload);
    const { from, ids, due, parts = [] } = said ?? {};
    return isList(ids) && isList(due) && isList(parts) ? { from, ids, due, parts } : { from };
  } catch {
    return {};
  }
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string");
