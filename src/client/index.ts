// "mcp-parley/client": calls that finish, whatever they turn into.

export { connect } from "./connect.ts";
export type { CallOptions, Connection, ConnectOptions, Era, Unfinished } from "./connect.ts";
export type { Drafts } from "../protocol/drafts.ts";
export type { Call } from "./call.ts";
export { CallError } from "./errors.ts";
export type { CallErrorCode, RpcError } from "./errors.ts";
export type { CallEvent } from "./events.ts";
export type { ClientJournal } from "./journal.ts";
export type { ClientLimits } from "./limits.ts";
export { outcomes } from "./outcome.ts";
export type { CallOutcome } from "./outcome.ts";
export type { Pending } from "./pending.ts";
export type { Asking, FormAnswer, Handlers } from "./people.ts";
export type { CallResult } from "./result.ts";
export type { Access, Command, Served, Target } from "./target.ts";
export { TaskLeft, withTasks } from "./with-tasks.ts";
export type { WithTasksOptions } from "./with-tasks.ts";
