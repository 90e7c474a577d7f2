// The entry `mcp-parley/store`: what a task store does, for authors of stores. `mcp-parley/testing/store` has the tests
// that a store must pass.

export {
  answered,
  appended,
  bytesOf,
  cancelled,
  claimed,
  created,
  finished,
  isDue,
  isForgotten,
  laidToRest,
  parked,
  published,
  released,
  renewed,
  reported,
  wasAppended,
} from "./moves.ts";
export type {
  AnswerResult,
  ChangeHint,
  ClaimedTask,
  ClaimRequest,
  ClaimResult,
  CreateResult,
  RenewalResult,
  RoundClaimRequest,
  RoundClaimResult,
  Store,
  StoreFigures,
  SweepResult,
  TaskPageRequest,
  TaskStore,
} from "./store.ts";
export { isLive } from "./task.ts";
export type {
  Answer,
  Arrival,
  ClaimRef,
  Finish,
  LogAppend,
  NewTask,
  Release,
  Sealed,
  Status,
  TaskRecord,
  Wait,
  Waiting,
} from "./task.ts";
