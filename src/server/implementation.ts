// What clients learn about a server: the options of its app, without those of Parley.

import { McpServer } from "@modelcontextprotocol/server";
import type { Implementation } from "@modelcontextprotocol/server";
import type { ParleyOptions } from "./app.ts";

/** The server's name, its version, and what else the SDK shows. */
export function implementationOf(options: ParleyOptions): Implementation {
  const { name, version, title, description, icons, websiteUrl } = options;
  return {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(icons === undefined ? {} : { icons }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
  };
}

/** For JavaScript authors. Every token is bound to the name. */
export function checkName(options: unknown): void {
  const { name }: { readonly name?: unknown } = Object(options);
  if (typeof name === "string" && name !== "") return;
  throw new TypeError(
    'parley() needs a name and a version. Write parley({ name: "tracker", version: "1.0.0" }).',
  );
}

/** A server of the SDK that says what it is, and has nothing else yet. */
export function sdkServer(options: ParleyOptions, rounds: number): McpServer {
  const { instructions } = options;
  return new McpServer(implementationOf(options), {
    // For tools that the author adds to the server. In 2025-11-25 sessions the SDK drives their rounds, and stops after eight.
    inputRequired: { maxRounds: rounds },
    ...(instructions === undefined ? {} : { instructions }),
  });
}
