// What a Worker gets in place of node-only.ts: nothing that listens, and an explanation.

import type * as nodeOnly from "./node-only.ts";
import { noTelemetry } from "./ops/telemetry.ts";

const needsNode = (way: string) => (): never => {
  throw new Error(`${way} needs Node, Bun or Deno. In a Worker, use app.fetch.`);
};

export const isLoopback: typeof nodeOnly.isLoopback = needsNode("app.listen()");
export const listen: typeof nodeOnly.listen = needsNode("app.listen()");
export const metadataHandler: typeof nodeOnly.metadataHandler = needsNode("app.listen()");
export const defaultConsole: typeof nodeOnly.defaultConsole = needsNode("app.listen()");
export const checkConsole: typeof nodeOnly.checkConsole = needsNode("app.listen()");
export const announceConsole: typeof nodeOnly.announceConsole = needsNode("app.listen()");
export const siteOf: typeof nodeOnly.siteOf = needsNode("app.listen()");
export const nodeHandler: typeof nodeOnly.nodeHandler = needsNode("app.node()");
export const closeWithClient: typeof nodeOnly.closeWithClient = needsNode("app.stdio()");
export const storeByDefault: typeof nodeOnly.storeByDefault = needsNode("app.stdio()");
export const serveOverStdio: typeof nodeOnly.serveOverStdio = needsNode("app.stdio()");

/** They come with the store: see store-parts.ts. */
export const withStore: typeof nodeOnly.withStore | undefined = undefined;
/** Nothing listens here, so there is nothing to warn of. */
export const strangerWarning: typeof nodeOnly.strangerWarning = () => () => {};
/** A Worker is one file, so no package is installed beside it. */
export const telemetry: typeof nodeOnly.telemetry = () => noTelemetry;
/** A Worker gets no signals. */
export const closeOnSignal: typeof nodeOnly.closeOnSignal = () => () => {};

/** Made only to serve requests of `node:http`. */
export class HttpEntry {
  readonly lane: () => never = needsNode("app.node()");
}
