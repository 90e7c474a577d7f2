// Checks of a task store: whether it can be reached, has its tables and a worker, and uses these keys. Nothing is changed.

import { expectsRunner } from "../../tasks/runner-note.ts";
import type { StoreFigures } from "../../tasks/store.ts";
import type { Keyring } from "../../token/keyring.ts";
import { duration } from "../screen/amounts.ts";
import { plainLine } from "../screen/plain.ts";
import { withStore } from "../tasks/store-tasks.ts";
import { silenceMs } from "../tasks/who-runs.ts";
import { howToMigrate, missingMigrations } from "../tasks/migrations.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { fits, sealedSample } from "./store-keys.ts";
import type { SealedSample } from "./store-keys.ts";

const overdueMs = 60_000;

/** The findings about a store. */
export async function storeFindings(
  store: string,
  schema: string | undefined,
  keyring: Keyring | undefined,
): Promise<readonly Finding[]> {
  try {
    const missing = await missingMigrations(store, schema);
    if (missing > 0) {
      return [
        fine("store", "it can be reached"),
        wrong("migrations", `${missing} missing. ${howToMigrate(store, schema)}`),
      ];
    }
    const found = await withStore(store, schema, async (opened) => ({
      ...(await opened.figures()),
      hasRunner: expectsRunner(await opened.workers()),
      sample: await sealedSample(opened),
    }));
    return [
      fine("store", "it can be reached"),
      fine("migrations", "up to date"),
      ...work(found),
      keysFinding(found.sample, keyring),
    ];
  } catch (error) {
    return [wrong("store", reasonOf(error))];
  }
}

function work(found: StoreFigures & { readonly hasRunner: boolean }): readonly Finding[] {
  const { now, live, held, oldestDueAt, workerSeenAt, hasRunner } = found;
  const seenMs = workerSeenAt === undefined ? Infinity : now - workerSeenAt;
  const dueMs = oldestDueAt === undefined ? 0 : now - oldestDueAt;
  const tasks = `${live} unfinished, ${held} running`;
  return [
    workerFinding(seenMs, live, hasRunner),
    dueMs > overdueMs
      ? wrong(
          "tasks",
          `${tasks}; one has been waiting for ${duration(dueMs)}. Add workers, or one that has its tool.`,
        )
      : fine("tasks", tasks),
  ];
}

/** Every sealed record names its key, so this needs no call of a tool. */
function keysFinding(sample: SealedSample, keyring: Keyring | undefined): Finding {
  const about = "store keys";
  const { keyIds } = sample;
  if (keyIds.length === 0) {
    return notChecked(about, "nothing is sealed in this store yet. Check again after a task.");
  }
  const ids = keyIds.map((id) => `"${plainLine(id, 40)}"`).join(", ");
  const newest = `the newest records of the store are sealed with ${ids}`;
  if (keyring === undefined) return notChecked(about, `${newest}. Set PARLEY_KEYS to compare.`);
  const others = keyIds.filter((id) => !keyring.opening.has(id));
  if (others.length > 0) {
    const named = others.map((id) => `"${plainLine(id, 40)}"`).join(", ");
    return wrong(about, `${newest}, and the keys here lack ${named}. ${sameKeys}`);
  }
  if (fits(sample, keyring, undefined) !== false) return fine(about, newest);
  return wrong(about, `${newest}, and the keys here with these ids are others. ${sameKeys}`);
}

const sameKeys = "Give all replicas the same PARLEY_KEYS.";

function workerFinding(seenMs: number, live: number, hasRunner: boolean): Finding {
  if (seenMs <= silenceMs || hasRunner) return fine("worker", `active ${duration(seenMs)} ago`);
  const when =
    seenMs === Infinity ? "none has ever run" : `the last one ran ${duration(seenMs)} ago`;
  if (live === 0) return notChecked("worker", `${when}, and there is no task to run.`);
  return wrong(
    "worker",
    `${when}, and tasks are waiting. Run parley worker <file>, or use app.listen().`,
  );
}
