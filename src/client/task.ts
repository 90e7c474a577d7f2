// Staying with the task that a call has become until it is over: its questions are put, its answers sent.

import { CallError } from "./errors.ts";
import type { Members } from "../util/objects.ts";
import { pendingOf } from "./pending.ts";
import type { Run } from "./run.ts";
import { resultIn } from "./snapshot.ts";
import type { CreatedTask, Snapshot } from "./snapshot.ts";
import { WatchedTask } from "./watched-task.ts";

export async function followTask(run: Run, created: CreatedTask): Promise<Members> {
  const task = new WatchedTask(created, run);
  const stopListening = run.questions.listen(task.hurry);
  try {
    return await new Follower(run, task).follow();
  } catch (error) {
    // Nobody here can ever answer it, so it would wait for its time to be over.
    if (error instanceof CallError && error.code === "unhandled_question") {
      await cancelTask(run, task.taskId).catch(() => {});
    }
    throw error;
  } finally {
    stopListening();
    task.rest();
  }
}

/** Resolves when the task is no more, or will not be for long. Needs no call that is still alive. */
export async function cancelTask(run: Run, taskId: string): Promise<void> {
  try {
    await new WatchedTask({ taskId, isDue: true }, run).cancel();
  } catch (error) {
    const isGone =
      error instanceof CallError && (error.code === "task_gone" || error.code === "task_expired");
    if (!isGone) throw error;
  }
}

class Follower {
  readonly #run: Run;
  readonly #task: WatchedTask;
  readonly #put = new Set<string>();
  readonly #sent = new Set<string>();
  #statusMessage: string | undefined;

  constructor(run: Run, task: WatchedTask) {
    this.#run = run;
    this.#task = task;
  }

  async follow(): Promise<Members> {
    const { signal } = this.#run;
    for (;;) {
      await this.#task.wait(signal);
      const snapshot = await this.#task.look(signal);
      this.#tellStatus(snapshot);
      const result = resultIn(snapshot, this.#task.taskId);
      if (result !== undefined) return result;
      await this.#ask(snapshot);
      await this.#sendAnswers(snapshot);
    }
  }

  #tellStatus({ statusMessage }: Snapshot): void {
    if (statusMessage === undefined || statusMessage === this.#statusMessage) return;
    this.#statusMessage = statusMessage;
    this.#run.tell({ type: "progress", message: statusMessage });
  }

  /** What was not asked before; what is no longer asked is withdrawn. */
  async #ask({ questions: asked }: Snapshot): Promise<void> {
    const run = this.#run;
    const { questions, state } = run;
    for (const key of questions.keys) {
      if (!asked.has(key) && questions.withdraw(key)) run.tell({ type: "withdrawn", key });
    }
    // Those answered before a crash only have to be sent.
    const fresh = [...asked]
      .filter(([key]) => !this.#put.has(key) && !state().answers.has(key))
      .map(([key, request]) => pendingOf(key, request));
    questions.check(fresh);
    // An answer that has arrived need not be kept.
    const answers = [...state().answers].filter(([key]) => asked.has(key) || questions.get(key));
    if (fresh.length > 0 || answers.length < state().answers.size) {
      await run.move({ questions: asked, answers: new Map(answers) });
    }
    if (fresh.length === 0) return;
    for (const { key } of fresh) this.#put.add(key);
    questions.put(fresh);
    run.tell({ type: "asked", questions: fresh, ref: run.ref() });
  }

  /** Only to what is asked now, and each once. */
  async #sendAnswers({ questions: asked }: Snapshot): Promise<void> {
    const { answers } = this.#run.state();
    const unsent = [...answers].filter(([key]) => asked.has(key) && !this.#sent.has(key));
    if (unsent.length === 0) return;
    await this.#task.answer(new Map(unsent), this.#run.signal);
    for (const [key] of unsent) this.#sent.add(key);
  }
}
