// The tasks whose questions the client is answering, by the `requestState` that the client received with them.

import { timerMs } from "../../util/timers.ts";
import type { FollowedTask } from "./followed-task.ts";

/** A task that has asked questions. */
interface AskingTask {
  readonly task: FollowedTask;
  readonly questions: ReadonlyMap<string, unknown>;
  /** Runs if the answers take longer than `answerMs`. */
  readonly timer: NodeJS.Timeout | undefined;
}

/** Bounds what a client that never answers leaves behind. */
const mostKept = 10_000;

export class AskingTasks {
  /** Tells the states that are made here from those of the server. */
  readonly #mark = `parley-${crypto.randomUUID()}/`;
  readonly #byState = new Map<string, AskingTask>();
  readonly #answerMs: number | undefined;
  readonly #onLate: (task: FollowedTask) => void;
  #count = 0;

  /** `onLate` receives each task that is not answered within `answerMs`. */
  constructor(answerMs: number | undefined, onLate: (task: FollowedTask) => void) {
    this.#answerMs = answerMs;
    this.#onLate = onLate;
  }

  /** True if the state was made here, whether or not its task is still kept. */
  isState(requestState: unknown): requestState is string {
    return typeof requestState === "string" && requestState.startsWith(this.#mark);
  }

  /** Keeps the task and returns the `requestState` for its questions. */
  keep(task: FollowedTask, questions: ReadonlyMap<string, unknown>): string {
    this.#count += 1;
    const requestState = `${this.#mark}${this.#count}`;
    const onLate = () => {
      this.take(requestState);
      this.#onLate(task);
    };
    const timer =
      this.#answerMs === undefined ? undefined : setTimeout(onLate, timerMs(this.#answerMs));
    this.#byState.set(requestState, { task, questions, timer });
    if (this.#byState.size > mostKept) {
      const [oldest = ""] = this.#byState.keys();
      this.take(oldest);
    }
    return requestState;
  }

  /** Returns the task and forgets it. Undefined if it was taken before. */
  take(requestState: string): AskingTask | undefined {
    const asking = this.#byState.get(requestState);
    clearTimeout(asking?.timer);
    this.#byState.delete(requestState);
    return asking;
  }

  /** Returns all tasks and forgets them. */
  takeAll(): readonly FollowedTask[] {
    return [...this.#byState.keys()].flatMap((requestState) => this.take(requestState)?.task ?? []);
  }
}
