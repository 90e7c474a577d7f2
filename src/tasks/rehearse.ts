// Looks at a question of a task without going on with the task: its handler is replayed up to that question and stopped. No
// step runs and nothing is recorded. This is how any process can check a value before it is delivered.

import { Inbox } from "../replay/inbox.ts";
import type { Entry } from "../replay/journal.ts";
import type { Operations, QuestionSpec } from "../replay/operations.ts";
import { run } from "../replay/run.ts";
import type { Stop } from "../replay/stop.ts";
import type { Program, TaskFacts } from "./program.ts";
import { Waits } from "./execution/waits.ts";
import type { TaskRecord } from "./task.ts";

/** The question as the handler asks it now. Undefined if the handler does not get there. */
export async function rehearse(
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
    isLive: () => false,
    signal: () => operations.signal(),
    onRunEnd: (release) => operations.onRunEnd(release),
    refuse: (...args) => operations.refuse(...args),
  };
}
