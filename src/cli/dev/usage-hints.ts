// Shows how to call the server, with its own tools.

import type { Tool } from "@modelcontextprotocol/client";
import { exampleValue } from "./example-value.ts";
import { plainJson, plainLine } from "../screen/plain.ts";

/** The server, and what it offers. */
export interface UsageHints {
  readonly url: string;
  readonly server: string;
  readonly tools: readonly Pick<Tool, "name" | "inputSchema">[];
  /** The client to call as. */
  readonly client?: string | undefined;
  /** The address of a host that renders MCP Apps. */
  readonly preview?: string | undefined;
}

/** Commands to try, and the settings for a client. */
export function usageHints({ url, server, tools, client, preview }: UsageHints): string {
  const as = client !== "chat" ? [] : ["--as", client];
  const call = `  npx mcp-parley call ${url}`;
  const shown = tools
    .filter(({ name }) => name !== "continue_call" && name !== "answer_call")
    .slice(0, 3);
  const calls = shown.map((tool) =>
    [call, plainLine(tool.name), ...examples(tool.inputSchema), ...as].join(" "),
  );
  const isRelaying = client === "chat" && tools.some(({ name }) => name === "continue_call");
  const config = { mcpServers: { [server]: { type: "http", url } } };
  return [
    "Try it from another terminal:",
    ...(calls.length === 0 ? [`  npx mcp-parley list ${url}`] : calls),
    ...(isRelaying
      ? [
          "If a call is not finished, do what its text tells the model:",
          [call, "continue_call", "call=…", "answers:='{…}'", ...as].join(" "),
        ]
      : []),
    ...(preview === undefined
      ? []
      : ["See what a host that renders MCP Apps shows, in a browser:", `  ${preview}`]),
    "Settings for an MCP client:",
    `  ${plainJson(config)}`,
    "",
  ].join("\n");
}

/** An example value for each required argument. If none is known to fit, an ellipsis. */
function examples({ properties = {}, required = [] }: Tool["inputSchema"]): string[] {
  return required.map((name) => word(name, exampleValue(properties[name])));
}

/** A value as `parley call` takes it: text unchanged, and everything else as JSON. */
function word(name: string, value: unknown): string {
  if (value === undefined) return `${plainLine(name)}=…`;
  const isJson = typeof value === "object" || value === null;
  const text = typeof value === "string" ? plainLine(value) : plainJson(value);
  return `${plainLine(name)}${isJson ? ":=" : "="}${quoted(text)}`;
}

const quoted = (text: string) =>
  /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
