// From rounds to a task: what the call has been told becomes the task's log, in the transaction that creates it.

import type { BackgroundOptions } from "../../replay/operations.ts";
import type { Outcome } from "../../replay/outcome.ts";
import type { Json } from "../../util/json.ts";
import type { TaskRuntime } from "../../tasks/runtime.ts";
import { canFollowTasks } from "../../protocol/capabilities.ts";
import type { Call } from "./call.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { external } from "../context/questions.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";
import { fromStore } from "../tasks/store-needed.ts";
import type { TaskInput } from "../tasks/program.ts";

type Suspended = Extract<Outcome<unknown>, { kind: "waiting" | "detached" }>;

/** Whether this call may become a task: its tool, this server and this very request all say so. */
export function runtimeFor(
  core: Core,
  definition: Definition,
  { capabilities }: RoundRequest,
): TaskRuntime | undefined {
  return definition.task !== undefined && canFollowTasks(capabilities) ? core.tasks : undefined;
}

/** Waits for nothing that the client could bring: sent back to it, it could only ask again and again. */
export function waitsForOthers({ open }: Suspended): boolean {
  return open.length > 0 && open.every(({ kind, shown }) => kind === "timer" || shown === external);
}

export async function promote(
  runtime: TaskRuntime,
  definition: Definition,
  call: Pick<Call, "id" | "tokenExpiresAt" | "abilities" | "inputDigest">,
  request: RoundRequest,
  { entries, unused }: Suspended,
  { ttlMs }: BackgroundOptions,
): Promise<RoundResponse> {
  const input: TaskInput = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came as a request's JSON
    arguments: (request.arguments ?? {}) as Json,
    abilities: call.abilities,
    inputDigest: call.inputDigest(),
  };
  const task = await fromStore(
    runtime.create({
      callId: call.id(),
      tool: definition.name,
      principal: request.principal,
      input: { ...input },
      entries,
      unused,
      ttlMs: ttlMs ?? request.taskTtlMs,
    }),
  );
  // Nobody is there to hear its id. A round with a token can be sent again and gets the same task; a first one cannot.
  if (request.stop?.reason !== undefined && call.tokenExpiresAt === undefined) {
    await runtime.cancel(task.id);
    return { kind: "none" };
  }
  return { kind: "task", task };
}
