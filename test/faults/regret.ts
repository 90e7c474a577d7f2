// The regret: a task that makes two things and does not end well, so that both are undone.

import { isDeepStrictEqual } from "node:util";
import { ask, openSealer } from "../../src/tasks/engine.fixture.ts";
import type { Handler, Undos } from "../../src/tasks/engine.fixture.ts";
import { readUndone } from "../../src/tasks/execution/log-records.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import type { TaskRecord } from "../../src/tasks/task.ts";
import type { Point } from "./life.ts";

/** How the task ends: its handler throws, or its client cancels it while it waits. */
export type RegretEnd = "throw" | "cancel";

/** What a living engine did: "make a", "undo a". */
export type Did = (what: string) => unknown;

export function regret(end: RegretEnd, did: Did): Handler {
  return async (_input, ops) => {
    const make = (key: string) =>
      ops.step(key, ({ idempotencyKey }) => did(`make ${idempotencyKey}`) ?? key, { undo: "undo" });
    await make("a");
    await make("b");
    if (end === "cancel") await ask(ops, "keep");
    throw new Error("It is not wanted.");
  };
}

export const regretUndos = (did: Did): Undos => ({ undo: ({ undoKey }) => did(`undo ${undoKey}`) });

/** The store calls of the first engine from its first step on. A test compares them with the engine. */
export const regretCalls: Readonly<Record<RegretEnd, readonly string[]>> = {
  throw: ["append 1", "append 2", "append 3", "append 4", "finish 1", "undo 1", "undo 2"],
  // The task waits, and the engine claims it when it is cancelled.
  cancel: ["append 1", "append 2", "append 3", "append 4", "park 1", "claim 1", "undo 1", "undo 2"],
};

/** What happens again, because the first engine died before it was recorded. */
function again({ call, when }: Point): string | undefined {
  if (when === "after") return undefined;
  return { "append 2": "make a", "append 4": "make b", "undo 1": "undo b", "undo 2": "undo a" }[
    call
  ];
}

/** What is wrong with a regret that is over. Each step is undone once, and only what was not recorded happens again. */
export async function mistakesOf(
  store: TaskStore,
  { id, callId, status, worker }: TaskRecord,
  end: RegretEnd,
  at: Point | undefined,
  deeds: readonly string[],
): Promise<readonly string[]> {
  const { undone } = readUndone(openSealer, callId, await store.readLog(id));
  const mistakes: string[] = [];
  const compare = (what: string, is: unknown, shouldBe: unknown) => {
    if (isDeepStrictEqual(is, shouldBe)) return;
    mistakes.push(`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(shouldBe)}`);
  };
  compare("status", status, end === "throw" ? "failed" : "cancelled");
  compare("worker", worker, undefined);
  compare(
    "recorded",
    undone,
    ["b", "a"].map((key) => ({ key, error: undefined })),
  );
  const repeated = at && again(at);
  const wanted = ["make a", "make b", "undo b", "undo a"].flatMap((deed) => {
    const [what = "", key = ""] = deed.split(" ");
    const full = `${what} ${callId}/${key}${what === "undo" ? "~undo" : ""}`;
    return deed === repeated ? [full, full] : [full];
  });
  compare("done", deeds, wanted);
  return mistakes;
}
