// Lists the unfinished calls of a folder.

import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { ago } from "../screen/amounts.ts";
import { plainJson, plainLine, someOf } from "../screen/plain.ts";
import { table } from "../screen/table.ts";
import { nameOf } from "../server/target.ts";
import type { Kept } from "./calls.ts";
import { shortId } from "./reference.ts";

/** Prints the unfinished calls. */
export function listCalls(calls: readonly Kept[], { out }: Io, isJson: boolean): ExitCode {
  if (isJson) {
    const entries = calls.map((call) => ({
      ...entryOf(call),
      questions: openIn(call),
      ref: call.text,
    }));
    out(`${plainJson({ parley: 1, unfinished: entries })}\n`);
    return exit.done;
  }
  if (calls.length === 0) out("No unfinished calls in this folder.\n");
  for (const call of calls) out(`${lineOf(call, standing(call))}\n`);
  return exit.done;
}

/** Prints the unfinished calls that have become tasks. */
export function listTaskCalls(calls: readonly Kept[], { out }: Io, isJson: boolean): ExitCode {
  const found = calls.filter(({ state }) => state.taskId !== undefined);
  if (isJson) {
    out(`${plainJson({ parley: 1, tasks: found.map(entryOf) })}\n`);
    return exit.done;
  }
  if (found.length === 0)
    out("No unfinished tasks in this folder. Use --store to list the tasks of a store.\n");
  else out(table([["CALL", "TOOL", "TASK", "STARTED", "SERVER"], ...found.map(taskRow)]));
  return exit.done;
}

function entryOf({ state, target }: Kept) {
  return {
    id: shortId(state),
    tool: state.name,
    since: new Date(state.since).toISOString(),
    server: target === undefined ? state.target : nameOf(target),
    ...(state.taskId !== undefined && { taskId: state.taskId }),
  };
}

function taskRow(call: Kept): readonly string[] {
  const { id, tool, server, taskId = "" } = entryOf(call);
  const since = ago(call.state.since);
  return [id, plainLine(tool, 40), plainLine(taskId, 40), since, plainLine(server, 60)];
}

function lineOf(call: Kept, how: string): string {
  const { id, tool, server } = entryOf(call);
  return `${id}  ${plainLine(tool, 40)}  ${how}, ${ago(call.state.since)}  ${plainLine(server, 60)}`;
}

function standing(call: Kept): string {
  const { result, taskId } = call.state;
  if (result !== undefined) return "done, result not fetched";
  const open = openIn(call);
  if (open.length > 0) return `asks ${someOf(open)}`;
  return taskId === undefined ? "sent" : "a task";
}

const openIn = ({ state: { questions, answers } }: Kept): string[] =>
  [...questions.keys()].filter((key) => !answers.has(key));
