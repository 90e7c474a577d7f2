// A task store: whether it can be reached, has its tables, and is being worked on. Nothing is changed.

import type { StoreFigures } from "../../tasks/store.ts";
import { duration } from "../screen/amounts.ts";
import { withStore } from "../tasks/in-store.ts";
import { howToMigrate, missingMigrations } from "../tasks/migrations.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** A worker is seen every third of a lease. */
const silenceMs = 60_000;
const overdueMs = 60_000;

export async function storeFindings(
  store: string,
  schema: string | undefined,
): Promise<readonly Finding[]> {
  try {
    const missing = await missingMigrations(store, schema);
    if (missing > 0) {
      return [
        fine("store", "it can be reached"),
        wrong("migrations", `${missing} to be done; ${howToMigrate(store, schema)}`),
      ];
    }
    const figures = await withStore(store, schema, (opened) => opened.figures());
    return [fine("store", "it can be reached"), fine("migrations", "up to date"), ...work(figures)];
  } catch (error) {
    return [wrong("store", reasonOf(error))];
  }
}

function work({ now, live, held, oldestDueAt, workerSeenAt }: StoreFigures): readonly Finding[] {
  const seenMs = workerSeenAt === undefined ? Infinity : now - workerSeenAt;
  const dueMs = oldestDueAt === undefined ? 0 : now - oldestDueAt;
  const tasks = `${live} live, ${held} being run`;
  return [
    workerFinding(seenMs, live),
    dueMs > overdueMs
      ? wrong(
          "tasks",
          `${tasks}; one has been due for ${duration(dueMs)}: add workers, or one that knows its tool.`,
        )
      : fine("tasks", tasks),
  ];
}

function workerFinding(seenMs: number, live: number): Finding {
  if (seenMs <= silenceMs) return fine("worker", `seen ${duration(seenMs)} ago`);
  const when =
    seenMs === Infinity ? "none was ever seen" : `the last was seen ${duration(seenMs)} ago`;
  if (live === 0) return notChecked("worker", `${when}; there is nothing to do either.`);
  return wrong("worker", `${when}, and tasks wait: run parley worker <file>, or app.listen().`);
}
