// The questions of a task whose answers are delivered, as their pages see them.

import type { Json } from "../util/json.ts";
import { openJson, places } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";
import { isLive } from "./task.ts";
import type { TaskRecord, Wait } from "./task.ts";

/** A question of a task that has a page. */
export type TaskPage =
  | { readonly status: "gone" | "answered" | "not_yet" }
  | {
      readonly status: "open";
      readonly digest: string | undefined;
      readonly dueAt: number | undefined;
      /** Undefined if an older version asked the question. */
      readonly page: Json | undefined;
    };

/** The question of this key. `isIntact` says whether the record is what was sealed. */
export function pageOf(sealer: Sealer, task: TaskRecord, key: string, isIntact: boolean): TaskPage {
  if (!isLive(task) || !isIntact) return { status: "gone" };
  const wait = deliverable(task, key);
  if (wait === undefined) {
    return { status: Object.hasOwn(task.asked, key) ? "answered" : "not_yet" };
  }
  const { page, wire, digest, dueAt } = wait;
  const shown =
    page === undefined ? undefined : openJson(sealer, page, places.page(task.callId, wire));
  return { status: "open", digest, dueAt, page: shown };
}

/** The wait for an answer that is delivered. People decide about an approval, and nothing is delivered to it. */
export function deliverable({ waits }: TaskRecord, key: string): Wait | undefined {
  return waits.find(
    ({ key: of, kind, page, needs }) =>
      of === key && needs === undefined && (kind === "external" || page !== undefined),
  );
}
