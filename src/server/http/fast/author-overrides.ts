// What an author's `onServer` has replaced on the official server. The SDK serves these parts, so that the author's
// code applies.

import type { McpServer } from "@modelcontextprotocol/server";

/** What the fast entry must leave to the SDK. */
export interface Overrides {
  /** The author replaced `connect`, and may see or change every message. */
  readonly everything: boolean;
  /** Methods whose handlers the author set or removed. */
  readonly methods: ReadonlySet<string>;
  /** The author registered resources, whose URIs may also match one of our templates. */
  readonly resources: boolean;
}

/** Watches what `configure` does to a server that is never connected. */
export function overridesOf(server: McpServer, configure: () => void): Overrides {
  const { server: protocol } = server;
  const methods = new Set<string>();
  let resources = false;
  const before = [connectOf(server), connectOf(protocol)];
  const note = (method: unknown) => void methods.add(String(method));
  spyOn(protocol, "setRequestHandler", note);
  spyOn(protocol, "removeRequestHandler", note);
  spyOn(server, "registerResource", () => {
    resources = true;
  });
  configure();
  const everything = before[0] !== connectOf(server) || before[1] !== connectOf(protocol);
  return { everything, methods, resources };
}

/** Code that replaces `connect` can see everything that is sent and received. */
const connectOf = (of: object): unknown => Reflect.get(of, "connect");

function spyOn(of: object, name: string, note: (first: unknown) => void): void {
  const original: unknown = Reflect.get(of, name);
  if (typeof original !== "function") return;
  const value = (...args: readonly unknown[]): unknown => {
    note(args[0]);
    return Reflect.apply(original, of, args);
  };
  Object.defineProperty(of, name, { value, configurable: true, writable: true });
}
