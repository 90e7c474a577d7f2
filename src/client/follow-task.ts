// Follows the task that a call has become until it ends: asks its questions and sends the answers.

import type { Members } from "../util/objects.ts";
import type { ActiveCall } from "./active-call.ts";
import { CallError, withPlace } from "./errors.ts";
import { readQuestion } from "./read-question.ts";
import { RemoteTask } from "./remote-task.ts";
import type { TaskServices } from "./remote-task.ts";
import { resultIn } from "./task-snapshot.ts";
import type { CreatedTask, TaskSnapshot } from "./task-snapshot.ts";
import { TaskStream } from "./task-stream.ts";

export async function followTask(call: ActiveCall, created: CreatedTask): Promise<Members> {
  const task = new RemoteTask(created, call.services);
  const stopListening = call.questions.listen(task.hurry);
  const stream = call.stream && new TaskStream(task, call.services, call.stream);
  try {
    return await new TaskFollower(call, task, stream).follow();
  } catch (error) {
    // This client will never answer the question, so the task would wait until it expires. A task of another process may
    // find a client that can answer.
    const isUnhandled = error instanceof CallError && error.code === "unhandled_question";
    if (!isUnhandled || call.isResumed) throw error;
    const { taskId } = task;
    const isCancelled = await cancelTask(call.services, taskId).then(
      () => true,
      () => false,
    );
    throw isCancelled ? withPlace(error, { taskId }) : error;
  } finally {
    stopListening();
    stream?.stop();
    task.rest();
  }
}

/**
 * Resolves when the server will cancel the task, or no longer has it. `mayBeHidden`: the server may have the task but
 * not show it to this client, so that it is not known to be gone. Works after the call has ended.
 */
export async function cancelTask(
  services: TaskServices,
  taskId: string,
  mayBeHidden = false,
): Promise<void> {
  try {
    await new RemoteTask({ taskId, isDue: true }, services).cancel();
  } catch (error) {
    const code = error instanceof CallError ? error.code : undefined;
    if (code === "task_expired" || (code === "task_gone" && !mayBeHidden)) return;
    throw error;
  }
}

class TaskFollower {
  readonly #call: ActiveCall;
  readonly #task: RemoteTask;
  readonly #stream: TaskStream | undefined;
  readonly #asked = new Set<string>();
  readonly #sent = new Set<string>();
  #statusMessage: string | undefined;

  constructor(call: ActiveCall, task: RemoteTask, stream: TaskStream | undefined) {
    this.#call = call;
    this.#task = task;
    this.#stream = stream;
  }

  async follow(): Promise<Members> {
    const { signal } = this.#call;
    for (;;) {
      await this.#task.wait(signal);
      const snapshot = await this.#task.poll(signal);
      this.#emitStatus(snapshot);
      // The parts that came before a question or the end are read before it.
      await this.#stream?.follow(snapshot);
      signal.throwIfAborted();
      const result = resultIn(snapshot, this.#task.taskId);
      if (result !== undefined) return result;
      await this.#ask(snapshot);
      await this.#sendAnswers(snapshot);
    }
  }

  #emitStatus({ statusMessage }: TaskSnapshot): void {
    if (statusMessage === undefined || statusMessage === this.#statusMessage) return;
    this.#statusMessage = statusMessage;
    this.#call.emit({ type: "progress", message: statusMessage });
  }

  /** Asks the questions that are new, and withdraws those that the task no longer asks. */
  async #ask({ questions: open }: TaskSnapshot): Promise<void> {
    const call = this.#call;
    const { questions, state } = call;
    for (const key of questions.keys) {
      if (!open.has(key) && questions.withdraw(key)) call.emit({ type: "withdrawn", key });
    }
    // Answers from before a crash only have to be sent.
    const fresh = [...open]
      .filter(([key]) => !this.#asked.has(key) && !state().answers.has(key))
      .map(([key, request]) => readQuestion(key, request));
    questions.check(fresh);
    // An answer that the server has need not be kept. One that was never sent is kept even if its question is not open:
    // after a crash, a task may take a while to reach the question again.
    const answers = [...state().answers].filter(([key]) => open.has(key) || !this.#sent.has(key));
    if (fresh.length > 0 || answers.length < state().answers.size) {
      await call.move({ questions: open, answers: new Map(answers) });
    }
    if (fresh.length === 0) return;
    for (const { key } of fresh) this.#asked.add(key);
    questions.ask(fresh);
    call.emit({ type: "asked", questions: fresh, ref: call.ref() });
  }

  /** Sends each answer once, and only while its question is open. */
  async #sendAnswers({ questions: open }: TaskSnapshot): Promise<void> {
    const { answers } = this.#call.state();
    const unsent = [...answers].filter(([key]) => open.has(key) && !this.#sent.has(key));
    if (unsent.length === 0) return;
    await this.#task.answer(new Map(unsent), this.#call.signal);
    for (const [key] of unsent) this.#sent.add(key);
  }
}
