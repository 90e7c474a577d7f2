// What neva does otherwise.

import type { Deviation } from "../deviations.ts";

export const nevaDeviations: readonly Deviation[] = [
  {
    peer: "neva",
    direction: "to-parley",
    capabilities: ["url"],
    title: "The neva client does not declare that it can be asked in URL mode",
    rule: "Elicitation, capabilities: a client declares the modes that it supports, an empty `elicitation` counts as `form` alone, and a server must not send a mode that the client does not support. This is the requirement S25 in `test/requirements`.",
    instead:
      "Every request declares `elicitation: {}`, although the client is configured with `with_elicitation(|e| e.with_form().with_url())`. Parley therefore refuses the call with −32021.",
    reproduction:
      "call a tool with a client that has this configuration and a handler, and look at `io.modelcontextprotocol/clientCapabilities` in its `_meta`: there is no `url` in `elicitation`.",
    report:
      "Under 2026-07-28, `apply_client_meta` declares `elicitation` with `ElicitationModes::default()`, which is `{}` on the wire, and does not look at the modes that `McpOptions::with_elicitation` was given. The comment there says that an unstated set rules nothing out, but the specification says that an empty object is equivalent to `form` alone. No server that keeps to it can ask a neva client in URL mode. The `legacy-spec` build does declare the modes in `initialize`. Please send the configured modes.",
  },
  {
    peer: "neva",
    direction: "to-parley",
    capabilities: ["task-asks", "task-cancel"],
    title: "The neva client does not declare the tasks extension",
    rule: "Tasks extension, capability negotiation: a client declares `io.modelcontextprotocol/tasks` in the `extensions` of the capabilities in each request, and a server must not make a task for a request without it. These are the requirements S81, S83 and S84 in `test/requirements`.",
    instead:
      "No request declares the extension, although the client is configured `with_tasks()` and calls the tool `as_task()`. Parley serves the call within the request where the tool allows it, and otherwise refuses it with −32021.",
    reproduction:
      "call a tool with `client.tools().as_task().call(…)`, and look at `io.modelcontextprotocol/clientCapabilities` in its `_meta`: there are no `extensions`.",
    report:
      "`McpOptions::extensions` of the client inserts only the Apps extension. `with_tasks()` sets `tasks_capability`, which is not written to the `_meta` of requests, so no server ever learns that the client supports `io.modelcontextprotocol/tasks`. Its documentation says that declaring it is what tells the server that this client can handle a `CreateTaskResult`. Instead, `as_task()` sends `params.task`, which the extension has removed and which servers ignore. Please insert `TASKS_EXTENSION_ID` if `tasks_capability` is set.",
  },
  {
    peer: "neva",
    direction: ["connect", "with-tasks"],
    capabilities: ["task", "task-asks", "task-after-round", "task-push", "task-cancel"],
    title: "A neva server makes a task only of a request that has `params.task`",
    rule: "Tasks extension, task creation: the server alone decides whether a `tools/call` becomes a task, if the request declares the extension. Backward compatibility: servers ignore a `task` parameter. These are the requirements S82 and S101 in `test/requirements`.",
    instead:
      'A tool with `with_task_support("required")` is refused with −32601 and “Tool required task augmented call”, although the request declares the extension. With `"optional"`, the call is served within the request.',
    reproduction:
      'send `tools/call` for such a tool with `"extensions":{"io.modelcontextprotocol/tasks":{}}` in `io.modelcontextprotocol/clientCapabilities`, and without `params.task`.',
    report:
      "`Context::call_tool_with_task` makes a task only if `params.task` is there. That parameter belongs to the tasks of 2025-11-25. In the extension for 2026-07-28, the client declares `io.modelcontextprotocol/tasks` in the capabilities of its request, sends no parameter, and the server decides. No client that keeps to the extension gets a task from a neva server, and a tool that requires one cannot be called at all. Please decide by `client_extension(TASKS_EXTENSION_ID)`, and refuse a client that does not declare it with −32021 instead of −32601.",
  },
];
