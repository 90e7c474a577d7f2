// The approvals of tasks, opened: what they ask, who has decided, and how one more decision gets to them.

import type { Json } from "../util/json.ts";
import { isObject } from "../util/objects.ts";
import { openDecisions, sealDecision } from "./decisions.ts";
import type { Decided } from "./decisions.ts";
import { readEntries } from "./execution/log-records.ts";
import type { TaskObserver } from "./observer.ts";
import type { SnapshotReader } from "./reader.ts";
import { openJson, places } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";
import type { TaskStore } from "./store.ts";
import { isLive } from "./task.ts";
import type { TaskRecord } from "./task.ts";

/** The part of a task that those who decide about it, or come too late, need. */
type ApprovalTask = Pick<TaskRecord, "id" | "callId" | "tool" | "principal" | "updatedAt">;

/** An approval that a task waits for. */
export interface OpenApproval {
  readonly status: "open";
  readonly key: string;
  readonly task: ApprovalTask;
  /** Changes with the wording. */
  readonly wire: string;
  readonly digest: string;
  /** How it is shown. */
  readonly page: Json;
  /** What has been decided so far. */
  readonly decisions: readonly Decided[];
}

/** Where an approval stands. */
export type FoundApproval =
  | OpenApproval
  | {
      readonly status: "decided";
      readonly task: ApprovalTask;
      readonly digest: string;
      readonly decisions: readonly Decided[];
    }
  | { readonly status: "not_yet" | "gone"; readonly task?: ApprovalTask | undefined };

/** The approvals of the tasks in one store. */
export class Approvals {
  readonly #store: TaskStore;
  readonly #sealer: Sealer;
  readonly #observer: TaskObserver;
  readonly #reader: SnapshotReader;

  constructor(
    given: {
      readonly store: TaskStore;
      readonly sealer: Sealer;
      readonly observer: TaskObserver;
    },
    reader: SnapshotReader,
  ) {
    this.#store = given.store;
    this.#sealer = given.sealer;
    this.#observer = given.observer;
    this.#reader = reader;
  }

  /** Finds the approval that a call asks for under this key. */
  async find(callId: string, key: string): Promise<FoundApproval> {
    const task = await this.#store.readByCall(callId);
    if (task === undefined || !this.#reader.isWhatWasSealed(task)) return { status: "gone" };
    const wait = task.waits.find((one) => one.key === key && one.needs !== undefined);
    if (wait?.page !== undefined && isLive(task)) {
      const { wire, digest = "", page, decisions = [] } = wait;
      return {
        status: "open",
        key,
        task,
        wire,
        digest,
        page: openJson(this.#sealer, page, places.page(callId, wire)),
        decisions: openDecisions(this.#sealer, callId, wire, decisions),
      };
    }
    const arrived = task.inbox.find((one) => one.key === key);
    if (arrived?.decisions !== undefined) {
      const { id, digest, decisions } = arrived;
      return {
        status: "decided",
        task,
        digest,
        decisions: openDecisions(this.#sealer, callId, id, decisions),
      };
    }
    return this.#recorded(task, key);
  }

  /** The log of a task that has ended stays for a while, so that latecomers learn what was decided. */
  async #recorded(task: TaskRecord, key: string): Promise<FoundApproval> {
    const log = await this.#store.readLog(task.id);
    const entries = readEntries(this.#sealer, task.callId, log);
    const entry = entries.find((one) => one.key === key && one.kind !== "changed");
    if (entry?.kind === "answer" && isObject(entry.value)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- recorded by `openArrival`
      const { decisions } = entry.value as unknown as { readonly decisions: readonly Decided[] };
      return { status: "decided", task, digest: entry.digest, decisions };
    }
    return { status: entry === undefined && isLive(task) ? "not_yet" : "gone", task };
  }

  /**
   * Notes one person's decision. The caller has checked whether this person may decide. "closed": the approval is not open in
   * this wording any more.
   */
  async decide(
    { task, wire }: OpenApproval,
    decision: Omit<Decided, "at">,
  ): Promise<{
    readonly kind: "counted" | "completed" | "repeated" | "closed";
    readonly decisions: readonly Decided[];
  }> {
    const { callId } = task;
    const { who, isApproved: approves } = decision;
    const value = sealDecision(this.#sealer, callId, wire, decision);
    const result = await this.#store.approvals?.decide(task.id, wire, { who, approves, value });
    if (result === undefined) return { kind: "closed", decisions: [] };
    const { kind } = result;
    const decisions = openDecisions(this.#sealer, callId, wire, result.decisions);
    const last = decisions.at(-1);
    if (kind === "completed" && last !== undefined) {
      this.#observer.answered?.(task, last.at - task.updatedAt);
    }
    return { kind, decisions };
  }
}
