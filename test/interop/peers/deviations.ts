// Where a run with a peer does not end as it has to: whose deviation it is, the rule, how to reproduce it, and the words
// of a report.

import { nevaDeviations } from "./neva/deviations.ts";
import { rmcpDeviations } from "./rmcp/deviations.ts";
import type { Direction } from "./transcript.ts";

export interface Deviation {
  readonly peer: string;
  readonly direction: Direction | readonly Direction[];
  readonly capabilities: readonly string[];
  /** What shows it in a run that ends as it has to in spite of it. */
  readonly sign?: string;
  readonly title: string;
  /** The section of the specification, and what it says. */
  readonly rule: string;
  /** What happens instead. */
  readonly instead: string;
  /** The message that shows it. */
  readonly reproduction: string;
  /** What to write to the project. */
  readonly report: string;
}

/** Whether a deviation explains a run. */
export const explains = (
  { peer, direction, capabilities }: Deviation,
  run: { readonly peer: string; readonly direction: Direction; readonly capability: string },
): boolean =>
  peer === run.peer &&
  [direction].flat().includes(run.direction) &&
  capabilities.includes(run.capability);

export const deviations: readonly Deviation[] = [
  {
    peer: "go-sdk",
    direction: "to-parley",
    capabilities: ["roots-bare"],
    title: "The Go client does not read `roots/list` without `params`",
    rule: "Schema 2026-07-28, `ListRootsRequest`: `params` is optional.",
    instead:
      "The client ends the call with “unexpected end of JSON input”. Parley therefore sends empty `params` with its own questions, and only a request that you write yourself can lack them.",
    reproduction:
      '{"resultType":"input_required","inputRequests":{"roots":{"method":"roots/list"}},"requestState":"x"}',
    report:
      "`InputRequestMap.UnmarshalJSON` decodes `params` of every input request, also where the member is absent. For `roots/list` it is optional, so `CallTool` fails with “unexpected end of JSON input” when a server asks for the roots in the shortest valid form. Please skip decoding when `raw.Params` is empty.",
  },
  {
    peer: "go-sdk",
    direction: "to-parley",
    capabilities: ["state-only"],
    title: "The Go client takes a round without questions for the result",
    rule: "Multi Round-Trip Requests, server requirements: an `InputRequiredResult` has `inputRequests`, `requestState` or both. Client requirements: the client retries the request with the `requestState` that it received.",
    instead: "`CallTool` returns an empty result without an error, and the work stays half done.",
    reproduction: '{"resultType":"input_required","requestState":"x"}',
    report:
      '`clientMultiRoundTripMiddleware` returns the result to the caller if `inputRequests()` is nil, without looking at `resultType`. A server may answer with `resultType: "input_required"` and only a `requestState`, for example to shed load. The call then ends with an empty `CallToolResult` and no error. Please decide by `resultType`, and retry with the state.',
  },
  {
    peer: "go-sdk",
    direction: "connect",
    capabilities: ["legacy-rounds"],
    title: "A Go server asks a 2025-11-25 client only once in a call",
    rule: "None: how one handler serves both versions is the SDK's own matter. But the result that it sends is not a result of the tool: Tools, `CallToolResult`, has `content`, which the handler did not return.",
    instead: "When a handler asks a second time, the client gets an empty result without an error.",
    reproduction:
      "A tool that returns `InputRequests` until it has two answers, called by a client that speaks 2025-11-25 in a session.",
    report:
      "`serverMultiRoundTripMiddleware` calls the handler again once. If the handler then asks for more input, its result, which has no content, goes to the 2025-11-25 client as if the tool had finished. Please repeat until there are no more input requests, with a limit, or answer with an error.",
  },
  {
    peer: "fastmcp",
    direction: "to-parley",
    capabilities: ["task", "task-asks", "task-after-round", "task-cancel"],
    title: "The FastMCP client names no task in its headers",
    rule: "Tasks extension, routing headers: over Streamable HTTP, a client sets `Mcp-Name` to the `taskId` in `tasks/get`, `tasks/update` and `tasks/cancel`. Streamable HTTP, server validation: a server refuses a request whose required headers are absent with error −32020.",
    instead:
      "`tasks/get` has no `Mcp-Name`, so Parley refuses it with −32020, as servers on the official TypeScript SDK do. The task continues on the server, and the client never sees its result. A Parley server with `lenientTaskRouting: true` serves it.",
    reproduction:
      "call a tool that becomes a task with `fastmcp-tasks` installed, and look at the headers of `tasks/get`: there is `Mcp-Method: tasks/get`, and no `Mcp-Name`.",
    report:
      "`fastmcp_tasks.client` sends `tasks/get`, `tasks/update` and `tasks/cancel` without the header `Mcp-Name`, which the tasks extension requires over Streamable HTTP and whose value is the `taskId`. Servers that check the routing headers, among them those on the official TypeScript SDK, answer with −32020 (HeaderMismatch), so no task can be followed on them. Please send `Mcp-Name: <taskId>` with these three requests.",
  },
  {
    peer: "java-sdk",
    direction: "connect",
    capabilities: ["plain"],
    sign: '"stackTrace":[]',
    title: "A Java server answers some requests with an exception instead of a JSON-RPC error",
    rule: "Streamable HTTP 2025-11-25, sending messages to the server: a response with a 4xx status may have a JSON-RPC error response without an `id` as its body. JSON-RPC 2.0, section 5: an error response has `jsonrpc` and `error`.",
    instead:
      "A request without a session gets status 400, and its body is a serialised Java exception with its stack trace. Clients that speak 2026-07-28 send such a request first, to find out which version the server speaks. Parley goes by the status, so the call ends as it has to.",
    reproduction:
      'send `{"jsonrpc":"2.0","id":1,"method":"server/discover"}` without `Mcp-Session-Id` to `HttpServletStreamableServerTransportProvider`. The body has the members `jsonRpcError`, `cause`, `stackTrace`, `suppressed`, `message` and `localizedMessage`.',
    report:
      "`HttpServletStreamableServerTransportProvider.responseError` writes the `McpError` itself with the JSON mapper, so the body of a 400 has the exception's stack trace with names of classes, files and lines, and is not a JSON-RPC message. Please write a `JSONRPCResponse` with `getJsonRpcError()` instead. Clients could then read the error, and servers would not show their internals.",
  },
  {
    peer: "mcpkit",
    direction: "to-parley",
    capabilities: ["legacy-plain", "legacy-form"],
    sign: '"id":null,"method":"notifications/initialized"',
    title: "The mcpkit client sends a notification as a request in 2025-11-25",
    rule: "Lifecycle 2025-11-25, initialization: after a successful initialization, the client sends an `initialized` notification. JSON-RPC 2.0, section 4.1: a notification has no `id`. Streamable HTTP 2025-11-25, protocol version header: the client includes `MCP-Protocol-Version` in all later requests.",
    instead:
      "`notifications/initialized` has the `id` null, so it is not a valid message and gets status 400. The client goes on, and the calls end as they have to. Its later requests have no `MCP-Protocol-Version`, but have `Mcp-Method`, which belongs to 2026-07-28.",
    reproduction:
      "connect with `client.WithClientMode(client.ClientModeLegacyOnly)` and look at the second request and at its headers.",
    report:
      "In the legacy mode, `doConnect` sends `notifications/initialized` with the `id` null. A notification has no `id` at all: strict servers answer with 400, and a server that waits for the notification never sees it. Later requests lack `MCP-Protocol-Version: 2025-11-25`, which the transport requires, and have `Mcp-Method` and `Mcp-Name` instead, from which a server may conclude that the client speaks 2026-07-28. Please send the notification without an `id`, add the version, and leave the routing headers out in this mode.",
  },
  {
    peer: "mcpkit",
    direction: "connect",
    capabilities: ["resource"],
    title: "A resource of an mcpkit server cannot ask",
    rule: "None: a server may offer as much as it wants. Multi Round-Trip Requests, supported requests: `prompts/get`, `resources/read` and `tools/call`.",
    instead:
      "`ResourceHandler` returns a `ResourceResult`, and `ResourceContext` has no `RequestInput`, so there is no way to write the resource of this errand, and the server does not have it.",
    reproduction:
      "write a resource handler that returns `ctx.RequestInput(…)`. It does not compile.",
    report:
      "Tools and prompts can return an `InputRequiredResult`, resources cannot: `ResourceHandler` returns the concrete `ResourceResult`. The specification lists `resources/read` among the requests that may take several rounds. Please let resource handlers return a sealed `ResourceResponse`, as prompts do, and give `ResourceContext` `RequestInput` and `InputResponse`.",
  },
  {
    peer: "mcpkit",
    direction: "connect",
    capabilities: ["tutorial-progress"],
    title: "The progress of an mcpkit server does not reach a client of 2026-07-28",
    rule: "None: a server need not report progress. But section 5 of its tutorial says that `core.EmitProgress` sends it to a client that sent a token.",
    instead:
      "The call ends with its result, and no `notifications/progress` is sent. `core.EmitContent` sends nothing either. `ctx.Notify` does, which the row “progress” uses.",
    reproduction:
      'call a tool that calls `core.EmitProgress(ctx, ctx.ProgressToken(), 47, 100, "")` on 2026-07-28, with a `progressToken` and `Accept: application/json, text/event-stream`. The response is JSON with the result.',
    report:
      "On the stateless wire, `core.EmitProgress`, `core.EmitContent` and the other functions that go through `core.Notify` send nothing: `core.Notify` looks for a session in the context, and there is none. `BaseContext.Notify` falls back to the function that `WithStatelessNotifyFunc` has set. Please let `core.Notify` do the same, so that the tools of the tutorial report their progress on both wires.",
  },
  {
    peer: "mcpkit",
    direction: "connect",
    capabilities: ["task-push"],
    sign: '"io.modelcontextprotocol/subscriptionId":"~subscription',
    title: "An mcpkit server names a subscription by an id of its own",
    rule: "Subscriptions: every message of a subscription has `io.modelcontextprotocol/subscriptionId`, which is the id of the `subscriptions/listen` request, and the acknowledgement lists what the server will send. This is the requirement S74 in `test/requirements`.",
    instead:
      "The acknowledgement has an id that the server made up, and lists nothing, although the request asked for a task. Parley's client takes this stream for one on which nothing comes, and polls, so the call ends as it has to.",
    reproduction:
      'send `subscriptions/listen` with the `id` 3 and `"notifications":{"taskIds":["…"]}`. The acknowledgement has `"io.modelcontextprotocol/subscriptionId":"sub-…"` and no `notifications`.',
    report:
      "`streamable_subscriptions.go` makes a `subscriptionId` of its own with `newSubscriptionID()`. The specification says that it is the id of the `subscriptions/listen` request, and a client that has several subscriptions on one stdio connection cannot tell them apart otherwise. The acknowledgement also lacks `notifications`, which tells the client that `taskIds` are not honoured. Please use the id of the request, and list what will be sent.",
  },
  ...rmcpDeviations,
  ...nevaDeviations,
];
