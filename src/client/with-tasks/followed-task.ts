// A task as a plain client's call sees it: followed until it ends or asks something.

import type { Members } from "../../util/objects.ts";
import { CallError } from "../errors.ts";
import { readQuestion } from "../read-question.ts";
import { RemoteTask } from "../remote-task.ts";
import type { TaskServices } from "../remote-task.ts";
import { resultIn } from "../task-snapshot.ts";
import type { CreatedTask, TaskSnapshot } from "../task-snapshot.ts";
import { TaskStream } from "../task-stream.ts";
import { canBeAsked, capabilitiesIn } from "./messages.ts";
import type { StreamedRequest } from "./streamed-request.ts";

/** The response to a request of the client. */
export type TaskOutcome =
  | { readonly result: Members }
  | { readonly questions: ReadonlyMap<string, unknown> };

export class FollowedTask {
  readonly tool: string;
  readonly #task: RemoteTask;
  readonly #capabilities: Members;
  readonly #answered = new Set<string>();
  readonly streamed: StreamedRequest | undefined;
  readonly #stream: TaskStream | undefined;

  /** `meta` is the `_meta` of the call. What it says about the client applies to the task as well. */
  constructor(
    created: CreatedTask,
    tool: string,
    meta: Members,
    services: Omit<TaskServices, "meta">,
    streamed?: StreamedRequest,
  ) {
    const { progressToken: _, ...own } = meta;
    this.tool = tool;
    this.#capabilities = capabilitiesIn(meta);
    this.#task = new RemoteTask(created, { ...services, meta: own });
    this.streamed = streamed;
    if (streamed === undefined) return;
    this.#stream = new TaskStream(this.#task, { ...services, meta: own }, streamed.stream);
  }

  get taskId(): string {
    return this.#task.taskId;
  }

  /** Rejects with the error that the task ended with, or when `signal` aborts. */
  async next(
    signal: AbortSignal,
    onSnapshot: (snapshot: TaskSnapshot) => void,
  ): Promise<TaskOutcome> {
    const task = this.#task;
    try {
      for (;;) {
        await task.wait(signal);
        const snapshot = await task.poll(signal);
        onSnapshot(snapshot);
        await this.#stream?.follow(snapshot);
        signal.throwIfAborted();
        const result = resultIn(snapshot, this.taskId);
        if (result !== undefined) {
          this.#stream?.stop();
          return { result };
        }
        const questions = this.#askable(snapshot);
        if (questions.size > 0) return { questions };
      }
    } catch (error) {
      this.#stream?.stop();
      throw error;
    } finally {
      task.rest();
    }
  }

  /** Sends the answers to the questions that were asked, each once, and ignores all others. */
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

  #askable({ questions }: TaskSnapshot): ReadonlyMap<string, unknown> {
    const open = [...questions].filter(([key]) => !this.#answered.has(key));
    const askable = open.filter(([, question]) => canBeAsked(question, this.#capabilities));
    const [first] = open;
    // If the client has answered some of the questions, those answers may still let the task continue.
    if (first !== undefined && askable.length === 0 && open.length === questions.size) {
      void this.cancel().catch(() => {});
      throw notDeclared(...first);
    }
    return new Map(askable);
  }
}

function notDeclared(key: string, request: unknown): CallError {
  const question = readQuestion(key, request);
  const message =
    `The task asked "${key}", but this client has not declared the capability for ${question.kind} questions. ` +
    "The task is being cancelled. Declare the capability and set a request handler for it.";
  return new CallError("unhandled_question", message, { question });
}
