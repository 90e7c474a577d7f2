// What clients learn about a server: the options of its app, without those of Parley.

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
