// What the spans and metrics of the server and of the client have in common. They follow OpenTelemetry's conventions for MCP
// and GenAI.

import type { Attributes } from "../util/open-telemetry.ts";

/** The attributes that the conventions name for a request. */
export function conventionOf(method: string, name: string): Attributes {
  const common = { "mcp.method.name": method };
  if (method === "tools/call") {
    return { ...common, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name };
  }
  return method === "prompts/get" ? { ...common, "gen_ai.prompt.name": name } : common;
}

/** The `error.type` of a tool that returned an error as its result. */
export const toolError = "tool_error";
