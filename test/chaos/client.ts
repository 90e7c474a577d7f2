// The client. It creates the tasks, answers their questions, and remembers what was acknowledged.

import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { TaskRuntime } from "../../src/tasks/runtime.ts";
import type { Promotion } from "../../src/tasks/runtime.ts";
import type { TaskSnapshot } from "../../src/tasks/snapshot.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { isLive } from "../../src/tasks/task.ts";
import type { Arrival, Wait } from "../../src/tasks/task.ts";
import type { Sealer } from "../../src/tasks/sealing.ts";
import type { Chance } from "./chance.ts";
import type { GivenAnswer } from "./invariants.ts";
import type { Log, Replicas } from "./replicas.ts";
import { limits, silentObserver } from "./setting.ts";
import { badAnswer, digestOf } from "./witness.ts";

const pollMs = 50;
/** How long to wait for a replica before another one is tried. */
const patienceMs = 2_000;
/** A task that has not changed for this long is examined. */
const quietMs = 2_000;

interface Followed {
  readonly callId: string;
  readonly tool: string;
  readonly id: string;
  revision: number;
  movedAt: number;
  /** Whether the task is stuck: it has not ended, and nothing will ever happen to it again. */
  isStuck: boolean;
  readonly planned: Set<string>;
}

export interface ClientOptions {
  readonly store: TaskStore;
  readonly sealer: Sealer;
  readonly replicas: Replicas;
  readonly chance: Chance;
  readonly log: Log;
  readonly tasks: number;
  readonly tools: readonly string[];
  /** How many tasks are under way at once. */
  readonly most: number;
  /** The share of the tasks that are cancelled. */
  readonly cancels: number;
  /** Called for each task that is there. */
  readonly onCreated?:
    | ((task: { readonly id: string; readonly callId: string }) => void)
    | undefined;
}

export class Client {
  readonly calls: readonly { readonly callId: string; readonly tool: string }[];
  readonly answers: GivenAnswer[] = [];
  /** The calls that were cancelled, and the status that the store reported then. Undefined: it has not responded. */
  readonly cancels = new Map<string, string | undefined>();
  readonly #options: ClientOptions;
  readonly #runtime: TaskRuntime;
  readonly #live = new Map<string, Followed>();
  /** Tasks that have not ended well, until nothing of them is left to undo. */
  readonly #undoing = new Set<string>();
  /** What the store made of an answer that it accepted, by task and wire key. */
  readonly #arrivals = new Map<string, Arrival>();
  /** When the store responded, by task and wire key. */
  readonly #acknowledged = new Map<string, number>();
  /** When a delivery was made, whatever its outcome, by task and key. */
  readonly #delivered = new Map<string, number>();
  #created = 0;
  #creating = 0;
  #over = 0;
  #isClosed = false;

  constructor(options: ClientOptions) {
    const { store, sealer, chance, tasks, tools } = options;
    this.#options = options;
    const draw = chance.of("calls");
    this.calls = Array.from({ length: tasks }, (_, index) => ({
      callId: `call-${index}-${Math.floor(draw.between(0, 1e9)).toString(36)}`,
      tool: tools[index % tools.length] ?? "",
    }));
    this.#runtime = new TaskRuntime({
      store: { ...store, answer: (id, answers) => this.#noted(id, answers) },
      sealer,
      programs: { names: () => tools, get: () => undefined },
      limits,
      observer: silentObserver,
      newId: () => randomBytes(16).toString("hex"),
    });
  }

  get over(): number {
    return this.#over;
  }

  get stuck(): number {
    return [...this.#live.values()].filter(({ isStuck }) => isStuck).length;
  }

  /** Runs until every task has ended or is stuck, or until the signal aborts. */
  readonly run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && this.#over + this.stuck < this.calls.length) {
      this.#topUp();
      await this.#look().catch((error: unknown) => this.#failed(error));
      await pause(pollMs);
    }
    this.#isClosed = true;
  };

  // ---------------------------------------------------------------- creating

  #topUp(): void {
    while (this.#live.size - this.stuck + this.#creating < this.#options.most) {
      const call = this.calls[this.#created];
      if (call === undefined) return;
      this.#created += 1;
      this.#creating += 1;
      void this.#create(call).finally(() => {
        this.#creating -= 1;
      });
    }
  }

  async #create({ callId, tool }: { callId: string; tool: string }): Promise<void> {
    const chance = this.#options.chance.of(`create ${callId}`);
    const call: Promotion = {
      callId,
      tool,
      principal: undefined,
      input: null,
      entries: [],
      unused: [],
      ttlMs: undefined,
    };
    for (let isCreated = false; !isCreated;) {
      if (this.#isClosed) return;
      // A replica creates the task and runs it at once, or this process creates it, which runs no tasks.
      const replica = chance.isIt(0.5) ? chance.pick(this.#options.replicas.present()) : undefined;
      isCreated = await (
        replica === undefined
          ? this.#runtime.create(call).then(() => true)
          : Promise.race([
              replica.create(call).then(() => true),
              Promise.race([replica.exited, pause(patienceMs)]).then(() => false),
            ])
      ).catch((error: unknown) => this.#failed(error));
    }
    const task = await this.#patiently(() => this.#options.store.readByCall(callId));
    // A task that was acknowledged and is not there shows in the final check.
    if (task === undefined) return;
    const { id } = task;
    this.#live.set(id, {
      callId,
      tool,
      id,
      revision: 0,
      movedAt: performance.now(),
      isStuck: false,
      planned: new Set(),
    });
    this.#options.onCreated?.({ id, callId });
    if (tool === "other") void this.#deliver(callId, id, "boss");
    const fate = this.#options.chance.of(`cancel ${callId}`);
    if (fate.isIt(this.#options.cancels)) void this.#cancel(callId, id, fate.between(0, 2_500));
  }

  async #cancel(callId: string, id: string, afterMs: number): Promise<void> {
    await pause(afterMs);
    if (this.#isClosed) return;
    this.cancels.set(callId, undefined);
    const task = await this.#patiently(() => this.#runtime.cancel(id));
    this.cancels.set(callId, task?.status);
  }

  // ---------------------------------------------------------------- following

  async #look(): Promise<void> {
    const revisions = await this.#options.store.revisions([...this.#live.keys()]);
    const now = performance.now();
    const changed = [...this.#live.values()].filter(
      ({ id, revision }) => (revisions.get(id) ?? 0) > revision,
    );
    await Promise.all(changed.map((task) => this.#changed(task)));
    const quiet = [...this.#live.values()].filter(({ movedAt }) => now - movedAt > quietMs);
    await Promise.all(quiet.map((task) => this.#lookForStuck(task)));
    await Promise.all([...this.#undoing].map((id) => this.#lookForUndone(id)));
  }

  async #changed(task: Followed): Promise<void> {
    const snapshot = await this.#runtime.get(task.id);
    if (snapshot === undefined) return;
    task.revision = snapshot.revision;
    task.movedAt = performance.now();
    task.isStuck = false;
    if (snapshot.status === "working" || snapshot.status === "input_required") {
      return this.#plan(task, snapshot);
    }
    this.#live.delete(task.id);
    if (snapshot.status === "completed") this.#over += 1;
    else this.#undoing.add(task.id);
  }

  async #lookForUndone(id: string): Promise<void> {
    const record = await this.#options.store.read(id);
    if ((record?.undos ?? 0) > 0) return;
    this.#undoing.delete(id);
    this.#over += 1;
  }

  /** The task is parked without a due time and all of its questions are answered, so it waits for something that is past. */
  async #lookForStuck(task: Followed): Promise<void> {
    const now = performance.now();
    task.movedAt = now;
    const record = await this.#options.store.read(task.id);
    if (record === undefined || !isLive(record)) return;
    if (record.worker !== undefined || record.dueAt !== undefined) return;
    // The time is taken before the read, because the read may still show a question that is answered meanwhile.
    const isAnswered = ({ key, wire }: Wait) =>
      (this.#acknowledged.get(`${task.id}/${wire}`) ?? Infinity) < now ||
      (this.#delivered.get(`${task.id}/${key}`) ?? Infinity) < now;
    task.isStuck = record.waits.every(isAnswered);
  }

  // ---------------------------------------------------------------- answering

  #plan(task: Followed, { questions }: TaskSnapshot): void {
    const wires = [...questions.keys()].filter((wire) => !task.planned.has(wire));
    if (wires.length === 0) return;
    for (const wire of wires) task.planned.add(wire);
    const chance = this.#options.chance.of(`${task.callId} ${wires.join(" ")}`);
    const groups = chance.isIt(0.5) ? [wires] : wires.map((wire) => [wire]);
    for (const group of groups) {
      const afterMs = chance.isIt(0.2) ? 0 : chance.between(0, 900);
      const times = chance.isIt(0.1) ? 2 : 1;
      for (let time = 1; time <= times; time += 1) {
        const values = new Map(
          group.map((wire): [string, string] => [
            wire,
            chance.isIt(0.1) ? badAnswer : `${wire}-${time}-${randomBytes(4).toString("hex")}`,
          ]),
        );
        void this.#answer(task, values, afterMs);
      }
    }
  }

  async #answer(
    task: Followed,
    values: ReadonlyMap<string, string>,
    afterMs: number,
  ): Promise<void> {
    const { callId, id } = task;
    await pause(afterMs);
    // Until the store responds, the outcome is unknown: the answer may have arrived even if the call fails.
    const begun = [...values].map(([wire, value]) => this.#given(callId, wire, keyOf(wire), value));
    const outcome = await this.#patiently(() => this.#runtime.update(id, values));
    for (const place of begun) {
      const { wire } = this.#at(place);
      if (outcome?.accepted.includes(wire) === true) this.#acknowledge(place, id, wire);
      else if (!this.#acknowledged.has(`${id}/${wire}`)) this.#lookAgain(task, wire);
    }
  }

  /** The answer was not accepted, because the question is gone. If it is still there, it is answered once more. */
  #lookAgain(task: Followed, wire: string): void {
    task.planned.delete(wire);
    task.revision = 0;
  }

  async #deliver(callId: string, id: string, key: string): Promise<void> {
    const chance = this.#options.chance.of(`${callId} deliver`);
    await pause(chance.between(0, 600));
    const value = `${key}-${randomBytes(4).toString("hex")}`;
    const place = this.#given(callId, key, key, value);
    const delivery = await this.#patiently(() =>
      this.#runtime.deliver(callId, key, digestOf(key), value),
    );
    if (delivery === "delivered") this.#acknowledge(place, id, key);
    // Whatever the outcome, a delivery is made only once.
    this.#delivered.set(`${id}/${key}`, performance.now());
  }

  #given(task: string, wire: string, key: string, value: string): number {
    const isGood = value !== badAnswer;
    const unknown = { isAcknowledged: false, at: undefined, dueAt: undefined };
    return this.answers.push({ task, wire, key, value, isGood, ...unknown }) - 1;
  }

  #at(place: number): GivenAnswer {
    const answer = this.answers[place];
    if (answer === undefined) throw new Error("An answer must be noted before it is given.");
    return answer;
  }

  #acknowledge(place: number, id: string, wire: string): void {
    const { at, dueAt } = this.#arrivals.get(`${id}/${wire}`) ?? {};
    this.#acknowledged.set(`${id}/${wire}`, performance.now());
    this.answers[place] = { ...this.#at(place), isAcknowledged: true, at, dueAt };
  }

  readonly #noted: TaskStore["answer"] = async (id, answers) => {
    const answered = await this.#options.store.answer(id, answers);
    for (const wire of answered?.accepted ?? []) {
      const arrived = answered?.task.inbox.find((one) => one.id === wire);
      if (arrived !== undefined) this.#arrivals.set(`${id}/${wire}`, arrived);
    }
    return answered;
  };

  // ---------------------------------------------------------------- the store

  /** Repeats an operation, because the store may be out of reach for a while. */
  async #patiently<T>(act: () => Promise<T>): Promise<T | undefined> {
    while (!this.#isClosed) {
      try {
        return await act();
      } catch (error) {
        this.#failed(error);
        await pause(100);
      }
    }
    return undefined;
  }

  #failed(error: unknown): false {
    this.#options.log(`client: ${String(error)}`);
    return false;
  }
}

/** `size~2` is the wire key of the second time that `size` is asked. */
const keyOf = (wire: string): string => wire.split("~")[0] ?? wire;
