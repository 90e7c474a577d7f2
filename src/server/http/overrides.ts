// What an author's `onServer` has taken over of what is ours: that is then served by the SDK, as the author wants it.

import type { McpServer } from "@modelcontextprotocol/server";

export interface TakenOver {
  /** Somebody looks at every message, or changes it. */
  readonly everything: boolean;
  readonly methods: ReadonlySet<string>;
  /** There are resources of others, and one of them may have a URI that a template of ours has, too. */
  readonly resources: boolean;
}

/** Watches what `configure` does to a server that is never connected. */
export function takenOver(server: McpServer, configure: () => void): TakenOver {
  const { server: protocol } = server;
  const methods = new Set<string>();
  let resources = false;
  const before = [connectOf(server), connectOf(protocol)];
  const note = (method: unknown) => void methods.add(String(method));
  watch(protocol, "setRequestHandler", note);
  watch(protocol, "removeRequestHandler", note);
  watch(server, "registerResource", () => {
    resources = true;
  });
  configure();
  const everything = before[0] !== connectOf(server) || before[1] !== connectOf(protocol);
  return { everything, methods, resources };
}

/** Who puts another in its place sees all that is sent and received. */
const connectOf = (of: object): unknown => Reflect.get(of, "connect");

function watch(of: object, name: string, note: (first: unknown) => void): void {
  const original: unknown = Reflect.get(of, name);
  if (typeof original !== "function") return;
  const value = (...args: readonly unknown[]): unknown => {
    note(args[0]);
    return Reflect.apply(original, of, args);
  };
  Object.defineProperty(of, name, { value, configurable: true, writable: true });
}
