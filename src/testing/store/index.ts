// The entry `mcp-parley/testing/store`: the tests that a task store has to pass, for authors of stores.

export type {
  AccountClaim,
  AccountKey,
  AccountRecord,
  AccountStore,
} from "../../tasks/account-store.ts";
export type {
  AnswerResult,
  ChangeHint,
  ClaimedTask,
  ClaimRequest,
  ClaimResult,
  CreateResult,
  RenewalResult,
  SeenWorkers,
  RequeueResult,
  RoundClaimRequest,
  RoundClaimResult,
  Store,
  StoreFigures,
  StoreUsage,
  SweepResult,
  TaskPageRequest,
  TaskStore,
} from "../../tasks/store.ts";
export type {
  AuditEntry,
  AuditPlace,
  AuditStore,
  AuditTail,
  NewAuditEntry,
} from "../../tasks/audit-store.ts";
export type {
  LoggedRecord,
  OpenWait,
  TaskListing,
  TaskQuery,
  TaskReader,
  WaitingQuery,
} from "../../tasks/task-reader.ts";
export type { RunEnd, TaskRun } from "../../tasks/task-runs.ts";
export type { ApprovalStore, DecisionResult, NewDecision } from "../../tasks/approval-store.ts";
export type { PartPage, PartPlace, StoredPart } from "../../tasks/stored-parts.ts";
export type {
  Answer,
  Arrival,
  ClaimRef,
  Finish,
  LogAddition,
  LogAppend,
  Holder,
  NewTask,
  Parking,
  Release,
  Requeue,
  Sealed,
  Status,
  StoredDecision,
  TaskRecord,
  UndoProgress,
  Wait,
  Waiting,
} from "../../tasks/task.ts";
export { storeContract } from "./contract.ts";
export type { StoreCase } from "./contract.ts";
export type { OpenedStore, OpenStore } from "./opened.ts";
