// "mcp-parley/store": what a store must do, for those who write one.

export type {
  Claimed,
  Claims,
  Creation,
  Figures,
  Hint,
  Page,
  Renewal,
  RoundClaim,
  RoundClaimed,
  Store,
  Swept,
  TaskStore,
  Wanted,
} from "./store.ts";
export * from "./task.ts";
