// A 2026-07-28 request of exactly the shape that the fast entry knows. Anything that differs in any way goes to the
// official SDK, which serves it or refuses it in its own words.

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  RELATED_TASK_META_KEY,
} from "@modelcontextprotocol/server";
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
} from "@modelcontextprotocol/server";
import { logLevels } from "../../../protocol/log-levels.ts";
import { modernVersion } from "../../../protocol/versions.ts";
import { isObject } from "../../../util/objects.ts";
import type { Members } from "../../../util/objects.ts";

/** A request that the fast entry can serve. */
export interface Message {
  readonly id: string | number;
  readonly method: FastMethod;
  readonly params: Params;
}

/** For each method, the parameter that names its subject and the other parameters it may have. */
const methods = {
  "tools/call": { about: "name", others: ["arguments", "inputResponses", "requestState"] },
  "prompts/get": { about: "name", others: ["arguments", "inputResponses", "requestState"] },
  "resources/read": { about: "uri", others: ["inputResponses", "requestState"] },
  "tasks/get": { about: "taskId", others: [] },
  "tasks/update": { about: "taskId", others: ["inputResponses"] },
  "tasks/cancel": { about: "taskId", others: [] },
  "io.github.mcp-parley/streaming/read": { about: "taskId", others: ["after"] },
} as const;

/** A method that the fast entry can serve. */
export type FastMethod = keyof typeof methods;
/** A method of the tasks extension. */
export type TaskMethod = Extract<FastMethod, `tasks/${string}`>;

const membersOf = new Map<string, ReadonlySet<string>>(
  Object.entries(methods).map(([method, { about, others }]) => [
    method,
    new Set(["_meta", about, ...others]),
  ]),
);

/** Whether the fast entry can serve a method. */
export const isMethod = (method: string): method is FastMethod => membersOf.has(method);

interface Params {
  readonly _meta: Envelope;
  readonly name?: string;
  readonly uri?: string;
  readonly taskId?: string;
  readonly arguments?: { readonly [name: string]: unknown };
  readonly inputResponses?: object;
  readonly requestState?: string;
  readonly after?: string;
}

/** The name of the tool or prompt, the URI of the resource, or the id of the task. */
export const subjectOf = ({ method, params }: Message): string =>
  params[methods[method].about] ?? "";

/** The `_meta` of a 2026-07-28 request. The client describes itself there. */
export interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]: ClientCapabilities;
  readonly [CLIENT_INFO_META_KEY]?: Implementation;
  readonly [LOG_LEVEL_META_KEY]?: LoggingLevel;
  readonly progressToken?: string | number;
  readonly [member: string]: unknown;
}

/** Whether a body is a request for this method, in exactly the known shape. */
export function isMessage(body: unknown, method: FastMethod): body is Message {
  return (
    isObject(body) &&
    body["jsonrpc"] === "2.0" &&
    body["method"] === method &&
    isId(body["id"]) &&
    hasOnly(body, messageMembers) &&
    isParams(body["params"], method)
  );
}

const messageMembers = new Set(["jsonrpc", "id", "method", "params"]);

function isParams(params: unknown, method: FastMethod): boolean {
  return (
    isObject(params) &&
    hasOnly(params, membersOf.get(method)) &&
    typeof params[methods[method].about] === "string" &&
    isEnvelope(params["_meta"]) &&
    areArguments(params["arguments"], method) &&
    areAnswers(params["inputResponses"]) &&
    isMaybe("string", params["requestState"]) &&
    isMaybe("string", params["after"])
  );
}

/** The SDK accepts only strings as the arguments of a prompt. */
function areArguments(args: unknown, method: FastMethod): boolean {
  if (args === undefined) return true;
  if (!isObject(args) || Object.hasOwn(args, "__proto__")) return false;
  return method !== "prompts/get" || Object.values(args).every((one) => typeof one === "string");
}

/** Whether every answer is bare. Some clients wrap answers in a request or a result, which the SDK unwraps. */
function areAnswers(answers: unknown): boolean {
  if (answers === undefined) return true;
  if (!isObject(answers) || Object.hasOwn(answers, "__proto__")) return false;
  for (const key in answers) {
    const answer = answers[key];
    if (!isObject(answer) || "method" in answer || "result" in answer) return false;
  }
  return true;
}

// ---------------------------------------------------------------- the envelope

function isEnvelope(meta: unknown): boolean {
  return (
    isObject(meta) &&
    meta[PROTOCOL_VERSION_META_KEY] === modernVersion &&
    areCapabilities(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    isClientInfo(meta[CLIENT_INFO_META_KEY]) &&
    isMaybeLevel(meta[LOG_LEVEL_META_KEY]) &&
    (meta["progressToken"] === undefined || isId(meta["progressToken"])) &&
    meta[RELATED_TASK_META_KEY] === undefined &&
    !Object.hasOwn(meta, "__proto__")
  );
}

function areCapabilities(declared: unknown): boolean {
  if (!isObject(declared)) return false;
  for (const name in declared) {
    const capability = declared[name];
    if (!isObject(capability) || !isCapability(name, capability)) return false;
  }
  return true;
}

function isCapability(name: string, capability: Members): boolean {
  switch (name) {
    case "elicitation": {
      const { form, url } = capability;
      return (
        hasOnly(capability, elicitationMembers) &&
        isMaybeSettings(form) &&
        isMaybe("boolean", form?.["applyDefaults"]) &&
        isMaybeSettings(url)
      );
    }
    case "sampling":
      return (
        hasOnly(capability, samplingMembers) &&
        isMaybeSettings(capability["tools"]) &&
        isMaybeSettings(capability["context"])
      );
    case "roots":
      return hasOnly(capability, rootsMembers) && isMaybe("boolean", capability["listChanged"]);
    case "extensions":
    case "experimental":
      for (const key in capability) {
        if (key === "__proto__" || !isSettings(capability[key])) return false;
      }
      return true;
    default:
      return false;
  }
}

const elicitationMembers = new Set(["form", "url"]);
const samplingMembers = new Set(["tools", "context"]);
const rootsMembers = new Set(["listChanged"]);

const isMaybeSettings = (value: unknown): value is Members | undefined =>
  value === undefined || isSettings(value);

/** Any JSON object, up to ten levels deep. */
const isSettings = (value: unknown): value is Members => isObject(value) && !isDeeper(value, 10);

function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null && isDeeper(member, levels - 1)) return true;
  }
  return Object.hasOwn(value, "__proto__");
}

function isClientInfo(info: unknown): boolean {
  if (info === undefined) return true;
  return (
    isObject(info) &&
    typeof info["name"] === "string" &&
    typeof info["version"] === "string" &&
    isMaybe("string", info["title"]) &&
    isMaybe("string", info["description"]) &&
    isMaybe("string", info["websiteUrl"]) &&
    hasOnly(info, clientMembers)
  );
}

const clientMembers = new Set(["name", "version", "title", "description", "websiteUrl"]);

const isMaybeLevel = (value: unknown): boolean =>
  value === undefined || logLevels.some((level) => level === value);

// ---------------------------------------------------------------- members

const isId = (value: unknown): boolean => typeof value === "string" || Number.isSafeInteger(value);

const isMaybe = (type: "string" | "boolean", value: unknown): boolean =>
  value === undefined || typeof value === type;

function hasOnly(value: object, known: ReadonlySet<string> | undefined): boolean {
  for (const key in value) if (known?.has(key) !== true) return false;
  return true;
}
