// Copies arguments into HTTP headers if the tool's schema asks for it (`x-mcp-header`, SEP-2243). The SDK does this
// inside `callTool` and does not export it.

import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

interface HeaderParam {
  readonly path: readonly string[];
  readonly header: string;
}

/**
 * Knows the headers from the server's latest list of tools. A tool that is not listed yet is called without headers. If
 * the server refuses that, rounds.ts reads the list and calls again.
 */
export class ParamHeaders {
  readonly #tools = new Map<string, readonly HeaderParam[]>();

  readonly learn = (tools: readonly unknown[]): void => {
    for (const tool of tools) {
      const name = own(tool, "name");
      if (typeof name === "string") this.#note(name, mirrored(own(tool, "inputSchema"), []));
    }
  };

  #note(name: string, params: readonly HeaderParam[]): void {
    this.#tools.delete(name);
    if (params.length > 0 && this.#tools.size < mostTools) this.#tools.set(name, params);
  }

  of(tool: string, args: Members | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    for (const { path, header } of this.#tools.get(tool) ?? []) {
      const text = textOf(path.reduce<unknown>(own, args));
      if (text !== undefined) headers[`Mcp-Param-${header}`] = encoded(text);
    }
    return headers;
  }
}

/** A server can send lists without end, even if it was not asked for them. */
const mostTools = 10_000;

const token = /^[\w!#$%&'*+.^`|~-]+$/;

function mirrored(schema: unknown, path: readonly string[]): readonly HeaderParam[] {
  // No real arguments are nested this deep, and a hostile schema must not exhaust the stack.
  if (path.length > 20) return [];
  const properties = own(schema, "properties");
  const header = own(schema, "x-mcp-header");
  const isPrimitive = ["string", "integer", "boolean"].some((one) => one === own(schema, "type"));
  const here = path.length > 0 && isPrimitive && typeof header === "string" && token.test(header);
  const below = isObject(properties)
    ? Object.entries(properties).flatMap(([name, inner]) => mirrored(inner, [...path, name]))
    : [];
  return here ? [{ path, header }, ...below] : below;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : undefined;
}

function encoded(text: string): string {
  const isPlain =
    /^[\t\u0020-\u007E]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
