// The entry `mcp-parley/testing/store`: the tests that a task store has to pass, for authors of stores.

export type { TaskStore } from "../../tasks/store.ts";
export { describeTaskStore } from "./contract.ts";
export type { OpenedStore, OpenStore } from "./opened.ts";
