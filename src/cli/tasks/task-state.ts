// What a task does or waits for, as far as its row says so. What is sealed in the row is not needed.

import { isLive, isUndoing } from "../../tasks/task.ts";
import type { TaskRecord, Wait } from "../../tasks/task.ts";
import { counted, duration } from "../screen/amounts.ts";
import { recordKeyId } from "../../token/sealed-record.ts";
import { plainLine } from "../screen/plain.ts";
import { isOrphaned } from "./orphans.ts";

/** The keys that the person has set, to say which of them a task lacks. */
export interface KeysHere {
  readonly has: (id: string) => boolean;
  /** Where they come from: "PARLEY_KEYS". */
  readonly from: string;
}

/** What the task does or waits for. Empty if it is over. */
export function stateOf(task: TaskRecord, now: number, keys?: KeysHere): string {
  const { fruitless } = task;
  const waiting = openWaits(task, now).map((wait) => waitText(wait, now));
  return [
    ...(isLive(task) || isUndoing(task) ? [ownState(task, now)] : []),
    ...(keys === undefined ? [] : otherKey(task, now, keys)),
    ...(waiting.length > 0 ? [`waits for ${waiting.join(", ")}`] : []),
    ...(isUndoing(task) ? [`${counted(task.undos, "step")} to undo`] : []),
    ...(fruitless > 1 ? [`${fruitless} attempts without progress`] : []),
  ]
    .filter((part) => part !== "")
    .join("; ");
}

/** Whether it runs, should run, or runs later. Empty while it only waits. */
function ownState(task: TaskRecord, now: number): string {
  const { worker, dueAt, epoch, waits } = task;
  const nobody = isOrphaned(task, now) ? ", no worker takes it up" : "";
  if (worker !== undefined) {
    const name = plainLine(worker, 60);
    if (dueAt === undefined || dueAt > now) return `runs on ${name} (run ${epoch})`;
    return `held by ${name}, whose lease ended ${duration(now - dueAt)} ago${nobody}`;
  }
  if (dueAt === undefined) return "";
  if (dueAt <= now) return `due for ${duration(now - dueAt)}${nobody}`;
  const isTimeLimit = waits.some((wait) => wait.dueAt === dueAt);
  return isTimeLimit ? "" : `is tried again in ${duration(dueAt - now)}, as run ${epoch + 1}`;
}

/** A worker without the key of a task gives it back, which does not count as an attempt without progress. */
function otherKey(task: TaskRecord, now: number, keys: KeysHere): readonly string[] {
  const { worker, dueAt, waits, input, inbox } = task;
  const isParked = dueAt === undefined || waits.some((wait) => wait.dueAt === dueAt);
  if (!isLive(task) || worker !== undefined || (isParked && (dueAt ?? Infinity) > now)) return [];
  const sealed = [input, ...inbox.map(({ value }) => value)].filter((text) => text !== "");
  const other = sealed.map(recordKeyId).find((id) => id !== undefined && !keys.has(id));
  if (other === undefined) return [];
  return [`sealed with the key "${plainLine(other, 40)}", which is not in ${keys.from}`];
}

/** The waits that are not over. The row keeps them until the next run has shown what it waits for. */
export const openWaits = ({ waits }: TaskRecord, now: number): readonly Wait[] =>
  waits.filter(({ dueAt = Infinity }) => dueAt > now);

function waitText(wait: Wait, now: number): string {
  const { kind, key, dueAt = now, group, needs } = wait;
  if (kind === "timer") return `a timer (another ${duration(dueAt - now)})`;
  const facts = [
    ...(needs === undefined ? [] : [`${agreedOn(wait)} of ${needs} agreed`]),
    ...(group === undefined ? [] : [`group ${plainLine(group, 30)}`]),
  ];
  return `${plainLine(key, 30)}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
}

/** How many people have agreed to an approval so far. */
export const agreedOn = ({ decisions = [] }: Wait): number =>
  decisions.filter(({ approves }) => approves).length;
