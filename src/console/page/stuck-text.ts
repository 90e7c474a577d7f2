// What the line at the top of every screen says about tasks that are stuck.

import type { TaskRow } from "../wire.ts";
import { count } from "./format.ts";

export interface StuckText {
  /** How many tasks are stuck. */
  readonly what: string;
  /** Why, or of which tools they are and why one of them is. */
  readonly why: string;
}

/** Undefined if nothing is stuck. `most` is how many tasks are counted at most. */
export function stuckText(tasks: readonly TaskRow[], most: number): StuckText | undefined {
  const [first] = tasks;
  if (first === undefined) return undefined;
  const { tool, why = "" } = first;
  if (tasks.length === 1) return { what: `One task of ${tool} is stuck`, why };
  const number = tasks.length >= most ? `${most} or more tasks` : count(tasks.length, "task");
  const [, second, ...others] = new Set(tasks.map((task) => task.tool));
  if (second === undefined) {
    const isSame = tasks.every((task) => task.why === first.why);
    return { what: `${number} of ${tool} are stuck`, why: isSame ? why : `One of them: ${why}` };
  }
  const names =
    others.length === 0
      ? `${tool} and ${second}`
      : `${tool}, ${second} and ${count(others.length, "other tool")}`;
  return {
    what: `${number} are stuck`,
    why: `They are of ${names}. One of ${tool}: ${why}`,
  };
}
