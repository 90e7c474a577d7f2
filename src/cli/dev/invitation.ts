// How to try the server, with its own tools.

import type { Tool } from "@modelcontextprotocol/client";
import { plainJson, plainLine } from "../screen/plain.ts";

export interface Invitation {
  readonly url: string;
  readonly server: string;
  readonly tools: readonly Pick<Tool, "name" | "inputSchema">[];
}

export function invitation({ url, server, tools }: Invitation): string {
  const shown = tools.slice(0, 3);
  const calls = shown.map((tool) =>
    ["  npx mcp-parley call", url, plainLine(tool.name), ...examples(tool.inputSchema)].join(" "),
  );
  const config = { mcpServers: { [server]: { type: "http", url } } };
  return [
    "Try it from another terminal:",
    ...(calls.length === 0 ? [`  npx mcp-parley list ${url}`] : calls),
    "For the settings of a client:",
    `  ${plainJson(config)}`,
    "",
  ].join("\n");
}

/** A value for everything it takes to call the tool at all. */
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

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of the server that is being worked on; it is only shown
const readable = (schema: unknown): Field => Object(schema) as Field;

const words = (value: unknown): string =>
  typeof value === "string" ? value : `'${JSON.stringify(value)}'`;
