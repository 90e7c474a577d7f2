// Who owns a task. The store keeps the id, the tool and the principal of a task in the clear, because it searches by
// them, so the sealed input repeats them. Every other part of the task is sealed for its call, as the input is. So a
// person who can write to the database cannot give a task to another caller, make another tool run with its arguments,
// or put one task's contents into another: the input would then contradict its row.

import type { Json } from "../util/json.ts";
import { internalErrorCode } from "./program.ts";
import type { TaskError } from "./program.ts";
import { places } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";
import type { Sealed, TaskRecord, Wait } from "./task.ts";

/** The row of a task does not say what its sealed contents say, so it was changed outside of this library. */
export class MovedRecordError extends Error {
  override readonly name = "MovedRecordError";

  constructor(what: string, options?: ErrorOptions) {
    super(`${what}, so something other than mcp-parley changed the database`, options);
  }
}

/** What a client is told about a task whose record was changed outside of this library. The log says more. */
export const changedOutside: TaskError = {
  code: internalErrorCode,
  message:
    "The record of the task is damaged, so the task was not run. The log of the server has the cause.",
  data: { reason: "task_damaged" },
};

type Owned = Pick<TaskRecord, "id" | "callId" | "tool" | "principal">;

// The first member of the text. The 1 is the version of the list. Version 0.1.0 wrote no such member, and ignores it, so
// both versions can run side by side during a deployment.
const mark = '{"~of":';
const ownerText = ({ id, tool, principal }: Owned): string =>
  `${mark}${JSON.stringify([1, id, tool, principal])}`;

/** Seals the input of a new task. */
export function sealInput(sealer: Sealer, owned: Owned, input: Json): Sealed {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const members = JSON.stringify(isObject ? input : { "~value": input }).slice(1);
  const text = `${ownerText(owned)}${members === "}" ? "" : ","}${members}`;
  return sealer.seal(text, places.input(owned.callId));
}

/** Opens the input of a task. Throws MovedRecordError if it was sealed for another task, tool or caller. */
export function openInput(sealer: Sealer, task: Owned & Pick<TaskRecord, "input">): Json {
  const text = checkedInput(sealer, task);
  if (!text.startsWith(mark)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse gives is JSON
    return JSON.parse(text) as Json;
  }
  const { "~of": _owner, "~value": value, ...members }: Record<string, Json> = JSON.parse(text);
  return value === undefined ? members : value;
}

/** Throws MovedRecordError if the row of a task contradicts its sealed input. */
export function checkOwner(sealer: Sealer, task: Owned & Pick<TaskRecord, "input" | "rest">): void {
  // A task whose contents are deleted has nothing left that could be moved.
  if (task.rest === undefined) checkedInput(sealer, task);
}

/** An input of version 0.1.0 does not name an owner. It opens as before, until its key is retired. */
function checkedInput(sealer: Sealer, task: Owned & Pick<TaskRecord, "input">): string {
  const text = sealer.open(task.input, places.input(task.callId));
  if (text.startsWith(mark) && !text.startsWith(ownerText(task))) {
    throw new MovedRecordError(
      "Its id, tool or principal differs from what its input was sealed for",
    );
  }
  return text;
}

/**
 * Throws MovedRecordError if a question was put under the key of another one. The request of a question is sealed for
 * its wire key, and a wire key is the key of the question, or that and a number.
 */
export function checkWait({ wire, key }: Pick<Wait, "wire" | "key">): void {
  if (wire === key || (wire.startsWith(`${key}~`) && !wire.includes("~", key.length + 1))) return;
  throw new MovedRecordError(`The question that clients know as "${wire}" has another key`);
}
