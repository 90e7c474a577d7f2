// What the page has to know first: whose console it is, who looks, and which tools there are.

import type { Inside } from "../server/inside.ts";
import type { RegisteredTool } from "../server/define/registry.ts";
import { passThrough } from "../server/sdk/pass-through.ts";
import { toJson } from "../util/json.ts";
import type { Admitted } from "./operator.ts";
import type { Session, ToolFacts } from "./wire.ts";

/** What the page reads first. */
export function sessionOf(
  { core, registrations }: Inside,
  operator: Admitted,
  isDevelopment: boolean,
): Session {
  const { who, groups, may, values } = operator;
  const tools = [...registrations].flatMap((one) =>
    one.kind === "tool" && one.definition.isOwn !== true ? [toolFacts(one)] : [],
  );
  return {
    app: core.name,
    version: core.version,
    isDevelopment,
    who,
    groups,
    may,
    values,
    hasKeys: hasKeys(core),
    hasStore: core.store !== undefined,
    tools,
  };
}

function hasKeys({ keyring }: Inside["core"]): boolean {
  try {
    keyring();
    return true;
  } catch {
    return false;
  }
}

function toolFacts({ name, config, definition }: RegisteredTool): ToolFacts {
  const { title, description, inputSchema } = config;
  const schema =
    inputSchema &&
    toJson(passThrough(inputSchema)["~standard"].jsonSchema.input({ target: "draft-2020-12" }));
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(schema !== undefined && { inputSchema: schema }),
    hasTask: definition.task !== undefined,
  };
}
