// Looks at a question of a task without going on with the task: its handler is replayed up to that question and stopped. No
// step runs and nothing is recorded. This is how any process can check a value before it is delivered.

import { Inbox } from "../replay/inbox.ts";
import type { Entry } from "../replay/journal.ts";
import type { Operations, QuestionSpec } from "../replay/operations.ts";
import { run } from "../replay/run.ts";
import { Stop } from "../replay/stop.ts";
import type { Json } from "../util/json.ts";
import type { Clock } from "./clock.ts";
import { readEntries } from "./execution/log-records.ts";
import { Waits } from "./execution/waits.ts";
import { openInput } from "./ownership.ts";
import type { Program, TaskFacts } from "./program.ts";
import type { Sealer } from "./sealing.ts";
import type { TaskStore } from "./store.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";

/** What a rehearsal needs from its process. */
export interface RehearsalDeps {
  readonly store: Pick<TaskStore, "readByCall" | "readLog">;
  readonly sealer: Sealer;
  readonly programs: { readonly get: (tool: string) => Program | undefined };
  readonly clock: Clock;
}

/** How long a handler may take to get to a question again. It replays what it has done, which takes milliseconds. */
const rehearsalMs = 5_000;

/** Why this value cannot answer the question of this call. Undefined if it can, or if this process cannot tell. */
export async function objectionTo(
  value: Json,
  callId: string,
  key: string,
  { store, sealer, programs, clock }: RehearsalDeps,
): Promise<string | undefined> {
  const task = await store.readByCall(callId);
  const program = task && isLive(task) ? programs.get(task.tool) : undefined;
  if (task === undefined || program === undefined) return undefined;
  const { id, principal } = task;
  const stop = new Stop();
  const callOff = clock.after(rehearsalMs, () => stop.stop("Deadline"));
  try {
    const entries = readEntries(sealer, callId, await store.readLog(id));
    const isAnswered = [...entries, ...task.inbox].some((one) => one.key === key);
    if (isAnswered) return undefined;
    const input = openInput(sealer, task);
    const facts = { id, callId, principal, input, report: () => {}, stream: () => {} };
    const question = await rehearse(program, facts, task, entries, key, stop);
    const reading = await question?.read(value);
    return reading?.kind === "invalid" ? reading.reason : undefined;
  } catch {
    // The handler may have changed, or its key may be missing here. The worker decides when it runs the task.
    return undefined;
  } finally {
    callOff();
  }
}

/** The question as the handler asks it now. Undefined if the handler does not get there. */
async function rehearse(
  program: Program,
  facts: TaskFacts,
  task: TaskRecord,
  entries: readonly Entry[],
  key: string,
  stop: Stop,
): Promise<QuestionSpec | undefined> {
  const { handler, input, carrier } = await program.prepare(facts);
  let found: QuestionSpec | undefined;
  const watched = (given: unknown, operations: Operations) =>
    handler(given, {
      ...delegate(operations),
      ask: (asked, spec) => {
        if (asked === key) {
          found = spec;
          queueMicrotask(() => stop.stop("Draining"));
        }
        return operations.ask(asked, spec);
      },
    });
  const history = {
    journal: { entries, out: new Waits(task).out },
    inbox: new Inbox([]),
  };
  await run(
    watched,
    input,
    history,
    carrier({ stop, append, cut: append, mayStart: () => "later" }),
  );
  return found;
}

function append(): void {
  throw new Error("A rehearsal records nothing.");
}

/** The operations one by one, because they are methods of a run. */
function delegate(operations: Operations): Operations {
  return {
    ask: (...args) => operations.ask(...args),
    step: (...args) => operations.step(...args),
    aside: (...args) => operations.aside(...args),
    sleep: (...args) => operations.sleep(...args),
    background: (...args) => operations.background(...args),
    checkpoint: (...args) => operations.checkpoint(...args),
    patched: (...args) => operations.patched(...args),
    isLive: () => false,
    journal: () => operations.journal(),
    signal: () => operations.signal(),
    onRunEnd: (release) => operations.onRunEnd(release),
    refuse: (...args) => operations.refuse(...args),
  };
}
