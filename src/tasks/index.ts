// The entry `mcp-parley/store`: what a task store does, for authors of stores. `mcp-parley/testing/store` has the tests
// that a store must pass.

export type { AccountClaim, AccountKey, AccountRecord, AccountStore } from "./account-store.ts";
export { asOf } from "./expiry.ts";
export {
  answered,
  appended,
  bytesOf,
  cancelled,
  claimed,
  created,
  finished,
  holds,
  isDue,
  isAbandoned,
  isForgotten,
  laidToRest,
  noted,
  parked,
  published,
  released,
  removed,
  renewed,
  reported,
  requeued,
  wasAppended,
  wasFinished,
} from "./moves.ts";
export { decided } from "./approval-moves.ts";
export { undone, wasUndone } from "./undo-moves.ts";
export type { ApprovalStore, DecisionResult, NewDecision } from "./approval-store.ts";
export { recordBytes } from "./store.ts";
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
} from "./store.ts";
export type {
  AuditEntry,
  AuditPlace,
  AuditStore,
  AuditTail,
  NewAuditEntry,
} from "./audit-store.ts";
export type {
  LoggedRecord,
  OpenWait,
  TaskListing,
  TaskQuery,
  TaskReader,
  WaitingQuery,
} from "./task-reader.ts";
export { endedRun, mostRuns, runsOf } from "./task-runs.ts";
export type { EndedRun, RunEnd, TaskRun } from "./task-runs.ts";
export { endsParts, partsAtOnce } from "./stored-parts.ts";
export type { PartPage, PartPlace, StoredPart } from "./stored-parts.ts";
export { taskBytes } from "./task-bytes.ts";
export { isLive, isUndoing } from "./task.ts";
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
} from "./task.ts";
