// What bodies returned after their run had lost its lease, because the event loop was blocked or the process was paused.
// The store refuses such an outcome. But if this process claims the task again and nothing was recorded meanwhile, the
// outcome is still the right one: it is recorded then, and the body does not run again.

import type { LateOutcomes as OfRun } from "../../replay/carrier.ts";
import type { Entry } from "../../replay/journal.ts";
import type { TaskRecord } from "../task.ts";

/** The oldest are dropped. Their bodies run again, as after a crash. */
const mostTasks = 100;

interface Kept {
  readonly logLength: number;
  readonly entries: Map<string, Entry>;
}

/** The late outcomes of one process, by task. */
export class LateOutcomes {
  readonly #byTask = new Map<string, Kept>();

  /** Whether this run of the task can use an outcome that came too late for an earlier one. */
  has({ id, logLength }: Pick<TaskRecord, "id" | "logLength">): boolean {
    return this.#byTask.get(id)?.logLength === logLength;
  }

  /** The outcomes for one run of a task. `logLength` is the length of its log at this moment. */
  of(id: string, logLength: () => number): OfRun {
    return {
      keep: (entry) => this.#keep(id, logLength(), entry),
      take: (key) => this.#take(id, logLength(), key),
    };
  }

  #keep(id: string, logLength: number, entry: Entry): void {
    if (entry.kind !== "step" && entry.kind !== "threw") return;
    const known = this.#byTask.get(id);
    const entries = known?.logLength === logLength ? known.entries : new Map<string, Entry>();
    this.#byTask.delete(id);
    this.#byTask.set(id, { logLength, entries: entries.set(entry.key, entry) });
    for (const oldest of this.#byTask.keys()) {
      if (this.#byTask.size <= mostTasks) return;
      this.#byTask.delete(oldest);
    }
  }

  /** Whatever was recorded since may have been recorded by another worker, and then it counts. */
  #take(id: string, logLength: number, key: string): Entry | undefined {
    const known = this.#byTask.get(id);
    if (known === undefined) return undefined;
    const entry = known.entries.get(key);
    known.entries.delete(key);
    if (known.logLength !== logLength || known.entries.size === 0) this.#byTask.delete(id);
    return known.logLength === logLength ? entry : undefined;
  }
}
