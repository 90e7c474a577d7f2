// Shows how to call the server, with its own tools.

import type { Tool } from "@modelcontextprotocol/client";
import { plainJson, plainLine } from "../screen/plain.ts";

/** The server, and what it offers. */
export interface UsageHints {
  readonly url: string;
  readonly server: string;
  readonly tools: readonly Pick<Tool, "name" | "inputSchema">[];
}

/** Commands to try, and the settings for a client. */
export function usageHints({ url, server, tools }: UsageHints): string {
  const shown = tools.slice(0, 3);
  const calls = shown.map((tool) =>
    ["  npx mcp-parley call", url, plainLine(tool.name), ...examples(tool.inputSchema)].join(" "),
  );
  const config = { mcpServers: { [server]: { type: "http", url } } };
  return [
    "Try it from another terminal:",
    ...(calls.length === 0 ? [`  npx mcp-parley list ${url}`] : calls),
    "Settings for an MCP client:",
    `  ${plainJson(config)}`,
    "",
  ].join("\n");
}

/** An example value for each required argument. */
function examples({ properties = {}, required = [] }: Tool["inputSchema"]): string[] {
  return required.map((name) => `${plainLine(name)}=${plainLine(example(properties[name]))}`);
}

function example(schema: unknown): string {
  const { type, enum: choices, default: given, minimum = 1, maximum = 1 } = readable(schema);
  if (given !== undefined) return words(given);
  if (choices !== undefined) return words(choices[0]);
  if (type === "boolean") return "true";
  if (type !== "integer" && type !== "number") return "text";
  return String(Math.min(Math.max(1, minimum), Math.max(1, maximum)));
}

interface Field {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is only shown
const readable = (schema: unknown): Field => Object(schema) as Field;

const words = (value: unknown): string =>
  typeof value === "string" ? value : `'${JSON.stringify(value)}'`;
