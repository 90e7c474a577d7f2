// What an app needs only where it can listen, or has a standard input. A Worker gets no-node.ts instead, by the condition of
// `#node-only` in package.json, so that these parts do not count in its bundle.

export { defaultConsole } from "./dev/console-by-default.ts";
export { HttpEntry } from "./http/fast/fast-entry.ts";
export { isLoopback, listen, strangerWarning } from "./http/listen.ts";
export { nodeHandler } from "./http/node.ts";
export { closeOnSignal, closeWithClient } from "./ops/signals.ts";
export { serveOverStdio } from "./sdk/stdio-server.ts";
export { storeByDefault } from "./tasks/default-store.ts";
export { withStore } from "./with-store.ts";
