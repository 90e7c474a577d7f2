// What a store does for approvals by a group: one operation, atomic and durable before it resolves, as all of them are.

import type { StoredDecision, TaskRecord } from "./task.ts";

/** The part of a store that approvals by a group need. */
export interface ApprovalStore {
  /**
   * Notes what one person decided about an approval that this task waits for. The first decision of a person counts. The
   * decision that completes the outcome takes the wait off the list, and all decisions become one arrival. Resolves to
   * undefined if there is no such task.
   */
  readonly decide: (
    id: string,
    wire: string,
    decision: NewDecision,
  ) => Promise<DecisionResult | undefined>;
}

/** A decision on its way to a task. The store adds the time. */
export type NewDecision = Omit<StoredDecision, "at">;

/** What `decide` did. */
export interface DecisionResult {
  /**
   * "counted": more people must agree. "completed": this decision completed the outcome. "repeated": this person has decided
   * before. "closed": the task does not wait for this approval, or its time limit has passed. The last two write nothing.
   */
  readonly kind: "counted" | "completed" | "repeated" | "closed";
  /** What has been decided about the approval. It is empty if it is closed. */
  readonly decisions: readonly StoredDecision[];
  /** The task afterwards. */
  readonly task: TaskRecord;
}
