// A tool as the task engine runs it: the same handler, the same ctx, another carrier.

import { ParleyError } from "../../errors.ts";
import { internalError } from "../../protocol/error-codes.ts";
import type { Json } from "../../util/json.ts";
import type { Ended, Ending, Prepared, Program, TaskFacts } from "../../tasks/program.ts";
import { sealTicket } from "../../token/ticket.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import { digestOfInput } from "../round/call.ts";
import { handlerHooks } from "../round/carrier.ts";
import { HandlerContext } from "../context/context.ts";
import type { CallFacts, Watch } from "../context/context.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { failureResponse, textOf } from "../round/failure.ts";
import { isInputRequired } from "../context/low-level.ts";
import { external, isShown } from "../context/questions.ts";

/** What a task needs of the call it was, in every run. */
export interface TaskInput {
  readonly arguments: Json;
  readonly abilities: readonly Ability[];
  readonly inputDigest?: string | undefined;
}

export function programOf(core: Core, definition: Definition, watch?: Watch): Program {
  return {
    prepare: (task) => prepare(core, definition, task, watch),
    ending: (outcome) => endingOf(core, definition, outcome),
  };
}

async function prepare(
  core: Core,
  definition: Definition,
  task: TaskFacts,
  watch: Watch | undefined,
): Promise<Prepared> {
  const input = inputOf(task);
  const parsed = await definition.parse(definition.name, input.arguments);
  if (!parsed.ok || digestOfInput(parsed.input) !== input.inputDigest)
    throw changed(definition.name);
  const facts = { ...factsOf(core, definition, task, input), watch };
  return {
    handler: (given, operations) => definition.invoke(given, new HandlerContext(operations, facts)),
    input: parsed.input,
    hooks: handlerHooks(core, definition),
    shown: ({ key, shown, reason }) => {
      if (shown === external) return { kind: "external" };
      if (!isShown(shown)) throw new TypeError(`question "${key}" shows nothing`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an input request is made of JSON
      return { kind: "question", request: shown.request(reason) as unknown as Json };
    },
  };
}

function inputOf({ input }: TaskFacts): TaskInput {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by us, so it is what `promote` wrote
  return input as unknown as TaskInput;
}

function changed(name: string): ParleyError {
  return new ParleyError(
    "history_changed",
    `The inputSchema of "${name}" makes something else of this task's arguments than it did when the call began. Nothing was run again.\n` +
      "Let it depend on the arguments alone, and while tasks are under way accept what it accepted before.",
  );
}

function factsOf(core: Core, definition: Definition, task: TaskFacts, input: TaskInput): CallFacts {
  const { environment, limits, name } = core;
  const principal = task.principal === "" ? undefined : task.principal;
  return {
    callId: task.callId,
    principal,
    request: undefined,
    task: { id: task.id },
    mayBecomeTask: true,
    can: (ability) => input.abilities.includes(ability),
    ticket: (kind, key, timeoutMs = limits.taskTtlMs) =>
      sealTicket(
        {
          kind,
          callId: task.callId,
          key,
          principal,
          audience: name,
          expiresAt: environment.now() + Math.min(timeoutMs, limits.taskTtlMs),
        },
        core.keyring(),
      ),
    wait: (ms) => new Promise((resolve) => environment.after(ms, resolve)),
    now: environment.now,
    // Nothing but the task's own state leaves a task.
    progress: (done, total, message) => task.report(howFar(done, total, message)),
    log: (_level, data) => task.report(said(data)),
    onSchemaError: (key, error) =>
      core.logger.warn(`The value for "${key}" was left aside: ${textOf(error)}`, {
        handler: definition.name,
      }),
    answers: () => ({}),
    state: () => undefined,
  };
}

/** The status of a task is text alone, so the figures are in it: a client can make a bar of them. */
function howFar(done: number, total: number | undefined, message: string | undefined): string {
  const figures = total === undefined ? `${done}` : `${done}/${total}`;
  if (message === undefined) return figures;
  return total === undefined || message.includes(figures) ? message : `${message} (${figures})`;
}

function said(data: unknown): string {
  if (typeof data === "string") return data;
  try {
    return JSON.stringify(data) ?? String(data);
  } catch {
    return "Something was logged that JSON cannot hold.";
  }
}

async function endingOf(core: Core, definition: Definition, outcome: Ended): Promise<Ending> {
  const answer =
    outcome.kind === "failed"
      ? failureResponse(core, definition, outcome.error)
      : await resultOf(core, definition, outcome.value);
  if (answer.kind === "complete") {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
    return { status: "completed", result: answer.result as unknown as Json };
  }
  const { code, message, data } =
    answer.kind === "error"
      ? answer
      : { code: internalError, message: "No result", data: undefined };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- likewise
  const json = data as Json | undefined;
  return {
    status: "failed",
    error: { code, message, ...(data === undefined ? {} : { data: json }) },
  };
}

async function resultOf(
  core: Core,
  definition: Definition,
  returned: unknown,
): Promise<ReturnType<typeof failureResponse>> {
  try {
    if (isInputRequired(returned)) {
      throw new ParleyError(
        "mixed_styles",
        `"${definition.name}" returned inputRequired(…) in a task. In the background ask with ctx.ask and the like.`,
      );
    }
    return { kind: "complete", result: await definition.toResult(returned, definition.name) };
  } catch (error) {
    return failureResponse(core, definition, error);
  }
}
