// Tasks as an operator sees them, in their store: whose they are, how old, and what they wait for. What people have said
// is sealed there, and stays so.

import { PostgresStore } from "../../tasks/stores/postgres/postgres-store.ts";
import { SqliteStore } from "../../tasks/stores/sqlite/sqlite-store.ts";
import type { TaskStore } from "../../tasks/store.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import { counted, duration } from "../screen/amounts.ts";
import { plainLine } from "../screen/plain.ts";
import { howToMigrate, isPostgres, missingMigrations } from "./migrations.ts";

/** Throws where it has not all of its tables: to look at a store is not to change it. */
export async function withStore<T>(
  target: string,
  schema: string | undefined,
  act: (store: TaskStore) => Promise<T>,
): Promise<T> {
  const missing = await missingMigrations(target, schema);
  if (missing > 0) {
    const what = `The store has not all of its tables: ${counted(missing, "migration")} to be done`;
    throw new Error(`${what}; ${howToMigrate(target, schema)}`);
  }
  const store = storeAt(target, schema);
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

export function storeAt(target: string, schema: string | undefined): TaskStore {
  return isPostgres(target)
    ? new PostgresStore(target, { schema })
    : new SqliteStore({ path: target });
}

const pageSize = 100;

/** Newest first. */
export async function listTasks(store: TaskStore, most: number): Promise<readonly TaskRecord[]> {
  const found: TaskRecord[] = [];
  for (;;) {
    const last = found.at(-1);
    const after = last && { createdAt: last.createdAt, id: last.id };
    const limit = Math.min(pageSize, most - found.length);
    const page = limit > 0 ? await store.list({ principal: undefined, after, limit }) : [];
    found.push(...page);
    if (page.length < pageSize) return found;
  }
}

/** For programs. Nothing sealed. */
export function taskJson(task: TaskRecord, now: number): Readonly<Record<string, unknown>> {
  const { id, callId, tool, principal, status, waits, worker, epoch, fruitless } = task;
  return {
    id,
    callId,
    tool,
    owner: principal === "" ? null : principal,
    status,
    waitsFor: waits.map(({ kind, key, dueAt }) => ({
      kind,
      key,
      ...(dueAt !== undefined && { until: new Date(dueAt).toISOString() }),
    })),
    worker: worker ?? null,
    claims: epoch,
    fruitlessClaims: fruitless,
    logLength: task.logLength,
    logBytes: task.logBytes,
    ageMs: now - task.createdAt,
    createdAt: new Date(task.createdAt).toISOString(),
    updatedAt: new Date(task.updatedAt).toISOString(),
    expiresAt: new Date(task.expiresAt).toISOString(),
  };
}

export function taskLine(task: TaskRecord, now: number): string {
  const { id, tool, principal, status, waits, fruitless } = task;
  const waiting = waits.map(({ kind, key }) => (kind === "timer" ? "a timer" : plainLine(key, 30)));
  const facts = [
    plainLine(id, 40),
    plainLine(tool, 30),
    status,
    duration(Math.max(0, now - task.createdAt)),
    principal === "" ? "nobody's" : plainLine(principal, 30),
    ...(waiting.length > 0 ? [`waits for ${waiting.join(", ")}`] : []),
    ...(fruitless > 1 ? [`${fruitless} attempts in vain`] : []),
  ];
  return facts.join("  ");
}
