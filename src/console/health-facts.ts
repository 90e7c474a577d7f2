// Whether the workers and the store are well, and what this process has counted.

import { fromStore } from "../server/tasks/store-needed.ts";
import { newestAudit } from "./audit-facts.ts";
import type { Admitted } from "./operator.ts";
import type { StoreView } from "./store-view.ts";
import type { RoundCounts } from "./round-counts.ts";
import { countsOf } from "./task-rows.ts";
import { silenceMsOf } from "./why.ts";
import { mostWaits } from "./wire.ts";
import type { HealthFacts } from "./wire.ts";

/** The health of the store and its workers. */
export async function showHealth(
  view: StoreView,
  operator: Admitted,
  counts: RoundCounts,
): Promise<HealthFacts> {
  const { store, inside } = view;
  const [figures, { workers }, waits, audit] = await Promise.all([
    fromStore(store.figures()),
    fromStore(store.workers()),
    view.reader.waiting({ limit: mostWaits }),
    newestAudit(view, operator),
  ]);
  const { now, oldestDueAt } = figures;
  const counted = counts.facts();
  const storeFailingSince = inside.storeFailingSince();
  const silenceMs = silenceMsOf(store);
  return {
    now,
    workers: workers
      .map(({ name, seenAt }) => ({ name, seenAt, isSilent: now - seenAt > silenceMs }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    waiting: waits.length,
    ...(waits[0] !== undefined && { waitingSince: waits[0].since }),
    ...(oldestDueAt !== undefined && { oldestDue: oldestDueAt }),
    ...counted,
    // Those that the worker met, and those that people at the console met.
    storeErrors: inside.storeErrors() + counted.storeErrors,
    ...(storeFailingSince !== undefined && { storeFailingSince }),
    figures: countsOf(figures),
    audit,
  };
}
