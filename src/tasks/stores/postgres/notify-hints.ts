// That something has changed, told to the other replicas by NOTIFY. A hint is never relied on: it may be lost.
//
// It is sent outside every transaction, because one that notifies takes a lock of the whole database when it
// commits; and for many changes at once.

import type { ChangeHint } from "../../store.ts";
import type { Client } from "./pool.ts";

/** Postgres takes less than 8000 bytes. */
const mostBytes = 7_900;
const gatherMs = 5;
const shortestPauseMs = 100;
const longestPauseMs = 10_000;

export interface Wire {
  readonly notify: (payload: string) => Promise<unknown>;
  /** A connection of its own, for as long as somebody listens. Undefined: there is none to spare. */
  readonly connect: () => Promise<Client | undefined>;
}

export class Hints {
  readonly #channel: string;
  readonly #wire: Wire;
  readonly #listeners = new Set<(hint: ChangeHint) => void>();
  /** Whose hints are our own: those have been told already. */
  readonly #sender = Math.random().toString(36).slice(2);
  /** By id: whether a worker should take it up. */
  #changed = new Map<string, boolean>();
  #sending: NodeJS.Timeout | undefined;
  #client: Client | undefined;
  #isConnecting = false;
  #again: NodeJS.Timeout | undefined;
  #pauseMs = shortestPauseMs;
  #isClosed = false;

  constructor(channel: string, wire: Wire) {
    this.#channel = channel;
    this.#wire = wire;
  }

  readonly subscribe = (listener: (hint: ChangeHint) => void): (() => void) => {
    this.#listeners.add(listener);
    void this.#listen();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#hangUp();
    };
  };

  /** Listeners here learn at once; those of other replicas a few milliseconds later. */
  readonly changed = (ids: readonly string[], isDue = false, isNews = true): void => {
    if (this.#isClosed || ids.length === 0) return;
    for (const id of ids) this.#changed.set(id, isDue);
    queueMicrotask(() => {
      for (const id of ids) this.#tell({ id, isDue, isNews });
    });
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
    const payload = JSON.stringify({ from: this.#sender, ids, due });
    const isShort = Buffer.byteLength(payload) <= mostBytes;
    const any = JSON.stringify({ from: this.#sender });
    await this.#wire.notify(isShort ? payload : any).catch(() => {});
  }

  async #listen(): Promise<void> {
    if (this.#client !== undefined || this.#isConnecting || !this.#isWanted()) return;
    this.#isConnecting = true;
    let client: Client | undefined;
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

  async #open(client: Client): Promise<void> {
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
    this.#pauseMs = shortestPauseMs;
    if (!this.#isWanted()) return this.#hangUp();
    // What was said while nobody listened is lost; anything may have changed.
    this.#tell({ id: undefined });
  }

  #isWanted(): boolean {
    return this.#listeners.size > 0 && !this.#isClosed;
  }

  #tryLater(): void {
    if (!this.#isWanted() || this.#again !== undefined) return;
    const pauseMs = this.#pauseMs * (0.5 + Math.random() / 2);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
    this.#again = setTimeout(() => {
      this.#again = undefined;
      void this.#listen();
    }, pauseMs).unref();
  }

  #hangUp(): void {
    clearTimeout(this.#again);
    this.#again = undefined;
    const client = this.#client;
    this.#client = undefined;
    client?.release(true);
  }

  #hear(payload: string): void {
    const { from, ids, due } = read(payload);
    if (from === this.#sender) return;
    if (ids === undefined || due === undefined) return this.#tell({ id: undefined });
    for (const id of ids) this.#tell({ id, isDue: false });
    for (const id of due) this.#tell({ id, isDue: true });
  }

  #tell(hint: ChangeHint): void {
    for (const listener of this.#listeners) listener(hint);
  }
}

/** Anyone who may notify can say anything: what is not ours means "any". */
function read(payload: string): {
  from?: unknown;
  ids?: readonly string[];
  due?: readonly string[];
} {
  try {
    const said: { from?: unknown; ids?: unknown; due?: unknown } | null = JSON.parse(payload);
    const { from, ids, due } = said ?? {};
    return isList(ids) && isList(due) ? { from, ids, due } : { from };
  } catch {
    return {};
  }
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string");
