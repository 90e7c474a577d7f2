// What must hold of undos after a run (R16).

import type { Case, Violation } from "./invariants.ts";
import { told } from "./told.ts";

/** Every step that began is undone once if its task did not end well, the last begun first, and never if it completed. */
export function* undoneWrongly({ final, bodies, undos, undosEnded }: Case): Generator<Violation> {
  const { task, status, begun, undone, history } = final;
  if (status === "completed") {
    for (const { key } of [...undos, ...undone]) {
      yield { wrong: "completed task undone", task, what: `"${key}"` };
    }
  }
  if (status !== "cancelled" && status !== "failed") return;
  const unknown = bodies.filter(({ key, hasUndo }) => hasUndo && !begun.includes(key));
  for (const { key } of unknown) {
    yield { wrong: "step not undone", task, what: `"${key}" ran, and the log has not begun it` };
  }
  for (const key of begun) {
    const records = undone.filter((one) => one.key === key && one.error === undefined);
    const ends = undosEnded.filter((one) => one.key === key);
    if (records.length === 0 || ends.length === 0) {
      yield { wrong: "step not undone", task, what: `"${key}": ${records.length}, ${ends.length}` };
    }
  }
  const order = begun.toReversed().filter((key) => undone.some((one) => one.key === key));
  const recorded = undone.map(({ key }) => key);
  if (new Set(recorded).size < recorded.length) {
    yield { wrong: "undone again", task, what: `the log has ${recorded.join(", ")}` };
  } else if (recorded.join(" ") !== order.join(" ")) {
    const what = `${recorded.join(", ")}, not ${order.join(", ")}`;
    yield { wrong: "undone in another order", task, what };
  }
  for (const { key, value } of undos) {
    const outcome = history.find((one) => one.key === key)?.value;
    const isRight =
      value === undefined ? !outcome?.startsWith(told.step("")) : outcome === told.step(value);
    if (isRight) continue;
    yield { wrong: "undone with another value", task, what: `"${key}": ${value}, not ${outcome}` };
  }
}

/**
 * An undo starts when the one before it has ended. It does not start again when the next one has started, because it was
 * recorded before that.
 */
export function* undoneAgain({ final, undos, undosEnded }: Case): Generator<Violation> {
  const { task, begun } = final;
  const order = begun.toReversed();
  for (const { key, at, checkedAt } of undos) {
    const place = order.indexOf(key);
    const before = order[place - 1];
    const after = order[place + 1];
    if (before !== undefined && !undosEnded.some((one) => one.key === before && one.at <= at)) {
      yield {
        wrong: "undone in another order",
        task,
        what: `"${key}" started before "${before}" ended`,
      };
    }
    if (undos.some((one) => one.key === after && one.at < checkedAt)) {
      yield { wrong: "undone again", task, what: `"${key}" started after "${after}" had started` };
    }
  }
}
