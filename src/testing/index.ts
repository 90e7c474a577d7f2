// "mcp-parley/testing": the public names.

export { crashTest } from "./crash-test.ts";
export type { CrashTestOptions, CrashTestReport, Repeat } from "./crash-test.ts";
export type { PlayOptions } from "./in-process-server.ts";
export type { HeldStream } from "./held-streams.ts";
export { play } from "./play.ts";
export type { Playable, PlayArguments, Played, PlayedCall, PlayedTask } from "./play.ts";
export type { PlayClient, PlayClientName } from "./played-client.ts";
export { approvedBy, cancelled, declined, rejectedBy, timedOut } from "./script.ts";
export type { AskedQuestion, Decided, Script, ScriptedAnswer } from "./script.ts";

// Types of `mcp-parley` that appear in the signatures above
export type { FormField, FormFormat, FormJson, TitledChoice } from "../protocol/form.ts";
export type { RequiredAbility } from "../server/define/abilities.ts";
export type { AuditAction, AuditRecord } from "../server/audit/audit-record.ts";
export type { About } from "../server/pages/page-question.ts";
export type { Via, Way } from "../server/round/ways.ts";
export type { HandleTypes } from "../server/define/definition.ts";
export type { ExtensionId } from "../protocol/capabilities.ts";
export type { Era } from "../protocol/versions.ts";
export type { Prompt } from "../server/define/prompt.ts";
export type { Resource } from "../server/define/resource.ts";
export type { Tool } from "../server/define/tool.ts";
export type { Json } from "../util/json.ts";
