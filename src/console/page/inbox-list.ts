// The inbox as it is shown. What was answered stays where it is until the reader clears it, so that nothing moves under
// the pointer and two operators see what the other did. The oldest come first, so new items appear at the end.

import type { InboxItem } from "../wire.ts";
import { rough } from "./format.ts";

export interface ShownItem {
  readonly id: string;
  readonly item: InboxItem;
  /** What happened to it, once it does not wait any more. */
  readonly outcome: string | undefined;
}

const idOf = ({ task, key }: InboxItem): string => `${task}/${key}`;

/** What is shown after the inbox was read again. */
export function shownAfter(
  shown: readonly ShownItem[],
  items: readonly InboxItem[],
  isWhole: boolean,
): readonly ShownItem[] {
  const reach = isWhole ? Infinity : (items.at(-1)?.since ?? 0);
  const fresh = new Map(items.map((item) => [idOf(item), item]));
  const kept = shown.map((known): ShownItem => {
    const item = fresh.get(known.id);
    fresh.delete(known.id);
    if (item !== undefined) {
      // A question can be asked again, under another moment. The list that was read may also be older than the answer.
      const isSame = item.since === known.item.since;
      return isSame && known.outcome !== undefined ? known : { ...known, item, outcome: undefined };
    }
    // It may be on a page that was not read again.
    if (known.outcome !== undefined || known.item.since >= reach) return known;
    return { ...known, outcome: "Someone else has answered, or the task has ended." };
  });
  const added = [...fresh].map(([id, item]) => ({ id, item, outcome: undefined }));
  return [...kept, ...added];
}

/** How the inbox is divided. */
export const divisions = ["age", "group", "tool"] as const;
export type Division = (typeof divisions)[number];

export interface Section {
  readonly title: string;
  readonly items: readonly ShownItem[];
}

/** Divides the inbox. Within a section, the oldest come first. By age there is one section. */
export function sectionsOf(shown: readonly ShownItem[], division: Division): readonly Section[] {
  const sections = new Map<string, ShownItem[]>();
  for (const one of shown) {
    const title = titleFor(one.item, division);
    const section = sections.get(title) ?? [];
    section.push(one);
    sections.set(title, section);
  }
  return [...sections].map(([title, items]) => ({ title, items }));
}

function titleFor({ group, tool }: InboxItem, division: Division): string {
  if (division === "group") return group ?? "For the client";
  return division === "tool" ? tool : "The oldest first";
}

/** "2 of 3 have approved", or how long it has left. */
export function standing({ decisions, needed, dueAt }: InboxItem, now: number): string {
  const agreed = decisions.filter(({ isApproved }) => isApproved).length;
  const parts = [
    needed !== undefined && needed > 1 ? `${agreed} of ${needed} have approved` : "",
    dueAt === undefined ? "" : dueAt > now ? `${rough(dueAt - now)} left` : "its time is up",
  ];
  return parts.filter(Boolean).join(" · ");
}
