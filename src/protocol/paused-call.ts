// What a paused call, the hosts that show it and our App agree on: names and addresses on the wire.

/** The member of `_meta` that describes a pause to programs. */
export const pauseMeta = "io.github.mcp-parley/pause";

/** The tool through which the App answers. */
export const answerCall = "answer_call";

/** The extension that a client declares if it shows MCP Apps. */
export const appsExtension = "io.modelcontextprotocol/ui";
/** The type of a resource that is an MCP App. Clients list it in their declaration. */
export const appType = "text/html;profile=mcp-app";

/** The resource with our App. */
export const formUri = "ui://parley/form";
