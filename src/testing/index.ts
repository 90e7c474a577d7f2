// "mcp-parley/testing": the public names.

export { crashTest } from "./crash-test.ts";
export type { CrashTestOptions, CrashTestReport, Repeat } from "./crash-test.ts";
export type { PlayOptions } from "./in-process-server.ts";
export { play } from "./play.ts";
export type { Playable, PlayArguments, Played, PlayedCall, PlayedTask } from "./play.ts";
export { cancelled, declined } from "./script.ts";
export type { AskedQuestion, Script, ScriptedAnswer } from "./script.ts";
