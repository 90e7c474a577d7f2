// `withTasks`: lets a plain official client call tools that become tasks.

import type { Transport } from "@modelcontextprotocol/client";
import type { WithTasksOptions } from "./options.ts";
import { TaskTransport } from "./task-transport.ts";

/**
 * Wraps a transport of the official SDK. A `Client` that uses it calls a tool that becomes a task with plain
 * `callTool()`, and gets the final result. The client's own elicitation, sampling and roots handlers answer the
 * questions of the task. The returned transport has all members of the one you pass.
 *
 * **Version.** The official client speaks 2025-11-25 unless you pass `versionNegotiation`, and then there are no such
 * tasks: a warning says so. With a server that speaks nothing newer, everything passes through unchanged.
 *
 * **Time limits.** A client gives each request 60 s by default. The time that a task works counts as one request; the
 * time that a person takes to answer does not count. For longer tasks, pass `callTool()` a longer `timeout`, or
 * `resetTimeoutOnProgress: true` together with `onprogress`: there is progress as long as the task is followed, and
 * `maxTotalTimeout` sets the limit. Without either, the call ends with `Request timed out`, and `onerror` receives a
 * `TaskLeftError`, because the task continues.
 *
 * **Questions.** Each time the task asks is one round for the client, which stops after ten rounds. Raise
 * `inputRequired.maxRounds` for more. If a handler throws, the call ends, but a transport does not learn about it: the
 * task waits until it expires or until `answerMs` is over. When the connection closes, `onerror` receives a
 * `TaskLeftError` for each task that still waits for an answer.
 *
 * **Errors.** If the task failed, the call ends with the server's own error. Any other failure is a `ProtocolError`
 * whose `data.reason` is a `CallErrorCode`.
 *
 * @example
 * ```ts
 * const client = new Client(info, {
 *   capabilities: { elicitation: {} },
 *   versionNegotiation: { mode: "auto" },
 * });
 * await client.connect(withTasks(new StreamableHTTPClientTransport(url)));
 * const result = await client.callTool({ name: "resolve_bug", arguments: { id: 4522 } });
 * ```
 */
export function withTasks<T extends Transport>(transport: T, options: WithTasksOptions = {}): T {
  const tasks = new TaskTransport(transport, options);
  // The SDK uses members that the Transport interface does not name, such as the process of a stdio transport.
  return new Proxy(transport, {
    get: (inner, name) => {
      if (isOwn(name)) return tasks[name];
      const value: unknown = Reflect.get(inner, name, inner);
      return typeof value === "function" && name !== "constructor" ? value.bind(inner) : value;
    },
    set: (inner, name, value) => {
      return isOwn(name) ? Reflect.set(tasks, name, value) : Reflect.set(inner, name, value, inner);
    },
  });
}

const ownNames = ["start", "send", "close", "onclose", "onerror", "onmessage"] as const;

const isOwn = (name: string | symbol): name is (typeof ownNames)[number] =>
  ownNames.some((own) => own === name);
