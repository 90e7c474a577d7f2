// One task, from the point of view of a plain client's call: until it is over, or asks.

import { CallError } from "./errors.ts";
import type { Members } from "../util/objects.ts";
import { pendingOf } from "./pending.ts";
import { resultIn } from "./snapshot.ts";
import type { CreatedTask, Snapshot } from "./snapshot.ts";
import { WatchedTask } from "./watched-task.ts";
import type { TaskMeans } from "./watched-task.ts";
import { canBeAsked, capabilitiesIn } from "./with-tasks-wire.ts";

/** What a leg of the call is answered with. */
export type Outcome =
  | { readonly result: Members }
  | { readonly questions: ReadonlyMap<string, unknown> };

export class FollowedTask {
  readonly tool: string;
  readonly #task: WatchedTask;
  readonly #capabilities: Members;
  readonly #answered = new Set<string>();

  /** `meta` is the envelope of the call. What it says of this client holds for its task. */
  constructor(created: CreatedTask, tool: string, meta: Members, means: Omit<TaskMeans, "meta">) {
    const { progressToken: _, ...own } = meta;
    this.tool = tool;
    this.#capabilities = capabilitiesIn(meta);
    this.#task = new WatchedTask(created, { ...means, meta: own });
  }

  get taskId(): string {
    return this.#task.taskId;
  }

  /** Rejects with what the task has ended with, or because `signal` has aborted. */
  async next(signal: AbortSignal, onSnapshot: (snapshot: Snapshot) => void): Promise<Outcome> {
    const task = this.#task;
    try {
      for (;;) {
        await task.wait(signal);
        const snapshot = await task.look(signal);
        onSnapshot(snapshot);
        const result = resultIn(snapshot, this.taskId);
        if (result !== undefined) return { result };
        const questions = this.#askable(snapshot);
        if (questions.size > 0) return { questions };
      }
    } finally {
      task.rest();
    }
  }

  /** Only to what was asked, and to each once. */
  async answer(
    asked: ReadonlyMap<string, unknown>,
    answers: Members,
    signal: AbortSignal,
  ): Promise<void> {
    const given = Object.entries(answers).filter(([key]) => asked.has(key));
    for (const [key] of given) this.#answered.add(key);
    if (given.length > 0) await this.#task.answer(new Map(given), signal);
  }

  readonly cancel = (): Promise<void> => this.#task.cancel();

  #askable({ questions }: Snapshot): ReadonlyMap<string, unknown> {
    const open = [...questions].filter(([key]) => !this.#answered.has(key));
    const askable = open.filter(([, question]) => canBeAsked(question, this.#capabilities));
    const [first] = open;
    // Where some are answered, that may only be on its way; with it, the task may well go on.
    if (first !== undefined && askable.length === 0 && open.length === questions.size) {
      void this.cancel().catch(() => {});
      throw unhandled(...first);
    }
    return new Map(askable);
  }
}

function unhandled(key: string, request: unknown): CallError {
  const question = pendingOf(key, request);
  const message =
    `The task asks under "${key}" for what this client has declared no capability for (${question.kind}), so nobody can answer. ` +
    "The task is being cancelled. Declare the capability and set a request handler for it.";
  return new CallError("unhandled_question", message, { question });
}
