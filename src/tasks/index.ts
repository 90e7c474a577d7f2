// "mcp-parley/store": what a store must do, for those who write one.

export type {
  ClaimedTask,
  ClaimResult,
  CreateResult,
  StoreFigures,
  ChangeHint,
  TaskPageRequest,
  RenewalResult,
  RoundClaimRequest,
  RoundClaimResult,
  Store,
  SweepResult,
  TaskStore,
  ClaimRequest,
} from "./store.ts";
export * from "./task.ts";
