// The entry `mcp-parley/durable-object`: tasks in Durable Objects of Cloudflare.

export { durableObjectStore } from "./durable-object-store.ts";
export type { DurableObjectStoreOptions } from "./durable-object-store.ts";
export type { Namespace, ObjectState, ObjectStorage } from "./platform.ts";
export { taskObject } from "./task-object.ts";
export type { TaskObject } from "./task-object.ts";
export type { App } from "../server/app.ts";
export type { Store } from "../tasks/store.ts";
