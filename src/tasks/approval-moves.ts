// The move of a task that someone decides about, as a pure function. See moves.ts.

import type { DecisionResult, NewDecision } from "./approval-store.ts";
import { seen, statusOf } from "./moves.ts";
import { isLive } from "./task.ts";
import type { Arrival, TaskRecord } from "./task.ts";

/**
 * Notes a decision. One refusal completes the outcome, and so does the last approval that is needed. The task that this
 * returns is the same object if nothing has changed.
 */
export function decided(
  task: TaskRecord,
  wire: string,
  decision: NewDecision,
  now: number,
): DecisionResult {
  const wait = isLive(task) ? task.waits.find((one) => one.wire === wire) : undefined;
  const { needs, dueAt, key, digest = "", decisions: before = [] } = wait ?? {};
  // A time limit that has passed wins over a late decision (R7). The clock of a worker may be a millisecond ahead.
  if (needs === undefined || key === undefined || (dueAt !== undefined && dueAt - 1 <= now)) {
    return { kind: "closed", decisions: [], task };
  }
  const isRepeated = before.some(({ who }) => who === decision.who);
  if (isRepeated) return { kind: "repeated", decisions: before, task };
  const decisions = [...before, { ...decision, at: now }];
  if (decision.approves && decisions.length < needs) {
    const waits = task.waits.map((one) => (one === wait ? { ...one, decisions } : one));
    return { kind: "counted", decisions, task: { ...task, waits } };
  }
  const waits = task.waits.filter((one) => one !== wait);
  const time = { at: now, ...(dueAt === undefined ? {} : { dueAt }) };
  const arrived: Arrival = { id: wire, key, digest, value: "", ...time, decisions };
  const next = {
    ...task,
    ...seen(task, now),
    status: statusOf(waits),
    waits,
    inbox: [...task.inbox, arrived],
    dueAt: task.worker === undefined ? now : task.dueAt,
  };
  return { kind: "completed", decisions, task: next };
}
