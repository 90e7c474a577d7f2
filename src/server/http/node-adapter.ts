// The parts of the official Node adapter that the server uses. The build bundles them, so that a server installs without
// the package and without the web framework that it depends on.

export {
  hostHeaderValidation,
  originValidation,
  toNodeHandler,
  toWebRequest,
} from "@modelcontextprotocol/node";
export type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
