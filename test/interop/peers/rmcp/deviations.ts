// What rmcp does otherwise.

import type { Deviation } from "../deviations.ts";

export const rmcpDeviations: readonly Deviation[] = [
  {
    peer: "rmcp",
    direction: "to-parley",
    capabilities: ["url"],
    title: "The rmcp client does not read a page without `elicitationId`",
    rule: "Schema 2026-07-28, `ElicitRequestURLParams`: its members are `mode`, `message` and `url`. Only 2025-11-25 has an `elicitationId`.",
    instead: "The client ends the call with “Unexpected response type”.",
    reproduction:
      '{"resultType":"input_required","inputRequests":{"page":{"method":"elicitation/create","params":{"mode":"url","message":"Sign in","url":"https://example.com/in"}}},"requestState":"x"}',
    report:
      "`ElicitRequestParams::UrlElicitationParams` requires `elicitation_id`, which 2026-07-28 has removed from the protocol together with `notifications/elicitation/complete`. If a server asks in URL mode in a round of 2026-07-28, `InputRequiredResult` does not deserialize, the result becomes a `CustomResult`, and `call_tool` fails with `UnexpectedResponse`. For the same reason, a server cannot ask in URL mode without inventing an id. Please make the field optional, and require it only for 2025-11-25.",
  },
  {
    peer: "rmcp",
    direction: "to-parley",
    capabilities: ["task-asks", "task-cancel"],
    title:
      "The rmcp client takes an acknowledgement that names its server for the result of a tool",
    rule: "Tasks extension, `tasks/update` and `tasks/cancel`: the result is empty, as `Result` is, which may have `_meta`. Schema 2026-07-28, `ResultMetaObject`: servers should include `io.modelcontextprotocol/serverInfo` in every response. These are the requirements S9, S94 and S97 in `test/requirements`.",
    instead:
      "`update_task` and `cancel_task` fail with “Unexpected response type”, although the server has done what was asked.",
    reproduction:
      'answer `tasks/update` with `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a server","version":"1.0.0"}}}`.',
    report:
      "`ServerResult` is untagged, and `CallToolResult` comes before `TaskAckResult` and deserializes from any complete result that has a `_meta`. An acknowledgement of `tasks/update` or `tasks/cancel` that carries `io.modelcontextprotocol/serverInfo`, which servers should include in every response, therefore becomes a `CallToolResult`, and `update_task` and `cancel_task` return `ServiceError::UnexpectedResponse`. Please choose the type of a result by the method of its request, or do not let `_meta` alone make a `CallToolResult`.",
  },
];
