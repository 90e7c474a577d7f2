// The pages of the task list that have been read. A change reads again only the pages that can be seen, so a list of
// 100 000 tasks costs no more than a short one.

import type { TaskRow } from "../wire.ts";

/** One page, as it was read. */
export interface TaskPage {
  /** What was passed as `after`. Undefined for the first page. */
  readonly after: string | undefined;
  readonly rows: readonly TaskRow[];
  readonly next: string | undefined;
}

/**
 * Puts a page that was read again in the place of the known one. New tasks appear at the top of the first page. Where a
 * page begins and ends does not change otherwise, so that nothing is missing between two pages.
 */
export function renewed(known: TaskPage, read: TaskPage): TaskPage {
  const oldest = read.next === undefined ? undefined : read.rows.at(-1);
  const isCovered = (row: TaskRow) => oldest === undefined || row.createdAt > oldest.createdAt;
  const fresh = new Map(read.rows.map((row) => [row.id, row]));
  const kept = known.rows.flatMap((row) => {
    const now = fresh.get(row.id);
    fresh.delete(row.id);
    // A task that is missing although the page covers it does not match the filter any more.
    return now !== undefined ? [now] : isCovered(row) ? [] : [row];
  });
  // What is left are tasks that the known page did not have, all of them newer.
  const first = known.rows[0];
  const added = [...fresh.values()].filter(
    (row) => first === undefined || row.createdAt >= first.createdAt,
  );
  return {
    after: known.after,
    rows: [...added, ...kept],
    next: known.rows.length === 0 ? read.next : known.next,
  };
}

/** Which pages contain rows from `first` to `last`. */
export function pagesAt(pages: readonly TaskPage[], first: number, last: number): number[] {
  const found: number[] = [];
  let begin = 0;
  for (const [index, { rows }] of pages.entries()) {
    const end = begin + rows.length;
    if (begin <= last && end > first) found.push(index);
    begin = end;
  }
  return found;
}
