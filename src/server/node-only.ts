// What an app needs only where it can listen, has a standard input, or can load a package that happens to be installed. A Worker
// gets no-node.ts instead, by the condition of `#node-only` in package.json, so that these parts do not count in its bundle.

export { defaultConsole } from "./dev/console-by-default.ts";
export { HttpEntry } from "./http/fast/fast-entry.ts";
export { isLoopback, listen, strangerWarning } from "./http/listen.ts";
export { announceConsole, checkConsole } from "./http/console-route.ts";
export { nodeHandler } from "./http/node.ts";
export { metadataHandler } from "./http/resource-metadata.ts";
export { siteOf } from "./http/routes.ts";
export { telemetry } from "./ops/installed-telemetry.ts";
export { closeOnSignal, closeWithClient } from "./ops/signals.ts";
export { serveOverStdio } from "./sdk/stdio-server.ts";
export { storeByDefault } from "./tasks/default-store.ts";
export { withStore } from "./with-store.ts";
