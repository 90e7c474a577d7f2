// How large a task is, for stores that do not measure it in their database.

import type { TaskRecord } from "./task.ts";

/** The size of what is sealed in a task. */
export function taskBytes({
  input,
  result = "",
  statusMessage = "",
  logBytes,
  ...task
}: TaskRecord): number {
  const waits = task.waits.reduce((sum, { request = "" }) => sum + request.length, 0);
  const inbox = task.inbox.reduce((sum, { value }) => sum + value.length, 0);
  return input.length + result.length + statusMessage.length + logBytes + waits + inbox;
}
