// "mcp-parley/testing": the public list.

export { crashTest } from "./crash-test.ts";
export type { CrashTestOptions, CrashTestReport, Repeat } from "./crash-test.ts";
export { play } from "./play.ts";
export type { Played, PlayOptions } from "./play.ts";
export { cancelled, declined } from "./script.ts";
export type { Asked, Script, Scripted } from "./script.ts";
