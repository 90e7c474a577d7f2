// Plays a task to its end: runs what is due, answers from the script what it asks.

import type { InputRequest } from "../protocol/input-required.ts";
import type { WireResult } from "../server/define/definition.ts";
import type { TaskSnapshot } from "../tasks/snapshot.ts";
import { isLive } from "../tasks/task.ts";
import { asked, externalValue, responseTo } from "./script.ts";
import type { Asked, Script } from "./script.ts";
import type { Death, Served, Table } from "./table.ts";
import { resultOfTask } from "./task-table.ts";

export interface TaskEvents {
  readonly onRun?: (run: Omit<Served, "answer">) => void;
  readonly onStatus?: (status: TaskSnapshot["status"]) => void;
  readonly onAnswer?: (question: Asked, response: unknown) => void;
  /** Where the process dies in this run, counted from 1. */
  readonly deathIn?: (run: number) => Death | undefined;
}

const mostRuns = 10_000;

export async function playTask(
  table: Table,
  id: string,
  script: Script,
  { onRun, onStatus, onAnswer, deathIn }: TaskEvents = {},
): Promise<WireResult> {
  for (let run = 1; run <= mostRuns;) {
    const task = await table.tasks.read(id);
    onStatus?.(task.status);
    if (!isLive(task)) return resultOfTask(task);
    const parked = await table.tasks.parked(id);
    if (parked === undefined) {
      onRun?.(await table.runTask(id, deathIn?.(run)));
      run += 1;
      continue;
    }
    const answers = new Map<string, object>();
    for (const [wire, request] of parked.questions) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine has sealed it
      const question = asked(keyOf(wire), request as unknown as InputRequest, run);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
      const response = await responseTo(question, request as unknown as InputRequest, script);
      onAnswer?.(question, response);
      answers.set(wire, response);
    }
    if (answers.size > 0) await table.tasks.answer(id, answers);
    for (const key of parked.external) {
      const question: Asked = {
        key,
        kind: "external",
        message: "Waits for a delivery",
        round: run,
      };
      const value = await externalValue(question, script);
      onAnswer?.(question, value);
      await table.tasks.deliver(id, key, value);
    }
  }
  throw new Error(`The task has no end: it was run ${mostRuns} times.`);
}

/** The author's key: what comes after it tells apart how often it was asked. */
const keyOf = (wire: string) => wire.replace(/~\d+$/, "");
