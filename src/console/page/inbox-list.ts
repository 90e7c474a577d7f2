// The inbox as it is shown. What was answered stays where it is until the reader clears it, so that nothing moves under
// the pointer and two operators see what the other did. The oldest come first, so new items appear at the end.

import type { AuditFacts, DecisionFacts, InboxItem } from "../wire.ts";
import { whoOf } from "./audit-words.ts";
import { listed, rough } from "./format.ts";

export interface ShownItem {
  readonly id: string;
  readonly item: InboxItem;
  /**
   * "waits": for someone, perhaps the reader. "decided": the reader has decided, and others must, too. "gone": it does not
   * wait any more, and the page does not know why. "told": the page knows what became of it.
   */
  readonly stage: "waits" | "decided" | "gone" | "told";
  /** What happened to it, once there is nothing to do for the reader. */
  readonly outcome: string | undefined;
  /** Whether it ended as the one who asked has hoped. */
  readonly isGood?: boolean;
  /** What the reader sent although it was too late, so that it does not count. */
  readonly late?: "approval" | "decline" | "answer";
}

/** What became of an item because the reader answered. */
export interface Settled {
  readonly stage: Exclude<ShownItem["stage"], "waits">;
  readonly outcome: string;
  readonly isGood?: boolean;
  readonly late?: NonNullable<ShownItem["late"]>;
  /** Who has decided by then. */
  readonly decisions?: readonly DecisionFacts[];
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
    if (item !== undefined) return withNews(known, item);
    // It may be on a page that was not read again.
    const isOver = known.stage === "gone" || known.stage === "told";
    if (isOver || known.item.since >= reach) return known;
    return { ...known, stage: "gone", outcome: "It does not wait any more." };
  });
  return [...kept, ...[...fresh.values()].map(waiting)];
}

const waiting = (item: InboxItem): ShownItem => ({
  id: idOf(item),
  item,
  stage: "waits",
  outcome: undefined,
});

function withNews(known: ShownItem, item: InboxItem): ShownItem {
  // A question can be asked again, under another moment or in other words.
  const isSame = item.since === known.item.since && item.digest === known.item.digest;
  if (!isSame || known.stage === "waits") return waiting(item);
  // The list that was read may be older than the answer.
  const isNews = item.decisions.length > known.item.decisions.length;
  if (known.stage !== "decided" || !isNews) return known;
  // Someone who has decided may not be sent the question any more.
  return { ...known, item: { ...known.item, decisions: item.decisions } };
}

/** The item after the reader has answered. */
export const settledBy = (
  known: ShownItem,
  { decisions, isGood = false, ...rest }: Settled,
): ShownItem => ({
  ...known,
  ...rest,
  isGood,
  item: decisions?.length ? { ...known.item, decisions } : known.item,
});

/** What became of an item that is gone, as the audit record of its call tells it. */
export function toldBy(known: ShownItem, records: readonly AuditFacts[]): ShownItem {
  const { key, kind, needed = 1 } = known.item;
  const all = records.filter((record) => record.key === key);
  const asked = all.findLastIndex(({ action }) => action === "asked");
  const own = all.slice(asked + 1).filter(({ action }) => Object.hasOwn(outcomes, action));
  const isApproval = kind === "approval";
  const decisions = isApproval ? own.flatMap(decisionIn) : [];
  const agreed = decisions.filter(({ isApproved }) => isApproved);
  const isDecided = agreed.length >= needed || agreed.length < decisions.length;
  // An approval that some have decided about can have ended otherwise.
  const ends = isApproval && !isDecided ? own.filter((one) => decisionIn(one).length === 0) : own;
  const end = ends.at(-1) ?? records.findLast(({ action }) => action === "call_cancelled");
  if (end === undefined) return known;
  if (known.late !== undefined) {
    const first = isDecided
      ? decisions.filter((one) => one.isApproved === (end.action === "approved"))
      : [];
    const names = first.length > 0 ? first.map(({ who }) => who) : [whoOf(end) ?? "someone"];
    const outcome = `${lateText(known.late)} ${firstText(end.action, listed(names))}`;
    return settledBy(known, { stage: "told", outcome, decisions });
  }
  // The list of decisions has the names.
  const who = isApproval && isDecided ? undefined : whoOf(end);
  const outcome = `${outcomes[end.action] ?? ""}${who === undefined ? "" : ` by ${who}`}.`;
  const isGood = end.action === "answered" || end.action === "approved";
  return settledBy(known, { stage: "told", outcome, isGood, decisions });
}

/** For someone who was not fast enough. */
export const lateText = (late: NonNullable<ShownItem["late"]>): string =>
  `Your ${late} came too late and does not count.`;

function firstText(action: string, who: string): string {
  if (action === "timed_out") return "Its time was up.";
  if (action === "call_cancelled") return `The task was cancelled by ${who}.`;
  return `${who} ${(outcomes[action] ?? "").toLowerCase()} first.`;
}

function decisionIn(record: AuditFacts): readonly DecisionFacts[] {
  const { action, at, note, via = "" } = record;
  if (action !== "approved" && action !== "rejected") return [];
  const who = whoOf(record) ?? "someone";
  const isApproved = action === "approved";
  return [{ who, isApproved, at, via, ...(note === undefined ? undefined : { note }) }];
}

const outcomes: Readonly<Record<string, string>> = {
  answered: "Answered",
  declined: "Declined",
  cancelled: "Dismissed",
  timed_out: "Nobody answered in time",
  approved: "Approved",
  rejected: "Declined",
  call_cancelled: "The task was cancelled",
};

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

/** "2 of 3 have approved", and how long it has left while it waits. */
export function standing({ item, stage }: Pick<ShownItem, "item" | "stage">, now: number): string {
  const { decisions, needed, dueAt } = item;
  const agreed = decisions.filter(({ isApproved }) => isApproved).length;
  const isOver = stage === "gone" || stage === "told";
  const parts = [
    needed !== undefined && needed > 1 ? `${agreed} of ${needed} have approved` : "",
    dueAt === undefined || isOver
      ? ""
      : dueAt > now
        ? `${rough(dueAt - now)} left`
        : "its time is up",
  ];
  return parts.filter(Boolean).join(" · ");
}
