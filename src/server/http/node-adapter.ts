// The parts of the official Node adapter that the server uses. The build bundles the package into this file, so that a
// server installs without it and without the web framework that the package depends on.

export {
  hostHeaderValidation,
  originValidation,
  toNodeHandler,
  toWebRequest,
} from "@modelcontextprotocol/node";
export type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
