import { and, at, by, later, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const eitherWay = "additional information, and then the answer (%s)";

export const responseTypes: readonly Row[] = [
  ...under(
    "Overview",
    [
      "Tools and other capabilities have several types of response, well defined for clients and servers.",
      by(at.types, "a complete answer (%s)", "a complete answer"),
    ],
    [
      "Answer: request and response, for what is there in a short time.",
      by(at.types, "a complete answer (%s)"),
    ],
    [
      "Promise: for long work, a token to look at its status and to redeem for the result later.",
      and(by(at.types, "a complete answer"), by(at.resume, "of a task, too")),
    ],
    [
      "A promise outlasts the time an HTTP request may take.",
      by(
        at.tasks,
        "goes on where the request that made it has long been answered, and its client is gone",
      ),
    ],
    [
      "Complete answer: the whole result as a structured object.",
      by(at.tasks, "the same of a tool with an outputSchema, whose result has structured content"),
    ],
    [
      "Failure: unrecoverable or unexpected, and not a JSON-RPC error.",
      by(at.types, "a failure (%s)", "a failure"),
    ],
    [
      "A JSON-RPC error is told apart from a failure of the tool.",
      by(at.types, "a failure of the protocol is a failure with an error"),
    ],
    [
      "Additional information: recoverable, by giving what was asked for.",
      by(at.types, eitherWay, "additional information, and then the answer"),
    ],
    [
      "Information is gathered by elicitation and by sampling.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
    [
      "Streaming: the result comes bit by bit.",
      later(
        "an issue on streaming; until then progress and status come before the one result (F24)",
      ),
    ],
  ),
  ...under(
    "Current Protocol Support, Answer",
    [
      "`tools/call` with a city is answered in full.",
      and(by(at.draft, "003: answers, as printed"), by(at.final, "an answer that is complete")),
    ],
    [
      "The answer can be a failure, with `isError` and words.",
      and(by(at.draft, "003: answers, as printed"), by(at.final, "an answer that is a failure")),
    ],
  ),
  ...under(
    "Current Protocol Support, Promise",
    ["Tasks are how a promise is made.", by(at.final, "a promise, and what it comes to")],
    [
      "The client says by `task` in the request that it wants a promise.",
      and(
        by(at.draft, "003: a promise, as printed"),
        by(
          at.v1Tasks,
          "a call with a wish is a task from its first line on, asked while tasks/result waits",
        ),
      ),
    ],
    ours(
      "in the final form the client declares that it can follow tasks, and the server decides.",
      by(at.tasks, "the handler decides: what is quick is answered at once"),
    ),
    ["Its status comes with words.", by(at.final, "a promise, and what it comes to")],
    [
      "The response has an id to look at the status with, and to redeem.",
      by(at.final, "a promise, and what it comes to"),
    ],
    [
      "It has a status, the time of creation, a life and an interval.",
      by(at.draft, "003: a promise, as printed"),
    ],
  ),
  ...under(
    "Additional Information Needed Result",
    [
      "Today more is asked by `elicitation/create` or `sampling/createMessage`.",
      by(
        at.legacy,
        "the server asks by a request on the stream of the call, and is answered by a response",
      ),
    ],
    [
      "A new type of response can hold several of them.",
      by(at.rounds, "carries each kind as the bare request the specification has, with flat forms"),
    ],
  ),
  ...under(
    "Option 1",
    [
      "The response to a tool call is an elicitation or sampling message itself.",
      superseded("weighed and rejected: no valid response; not built (F17)"),
    ],
    [
      "The retry carries the answer in `elicitation` beside its params.",
      superseded("`params.inputResponses` (F23)"),
    ],
    [
      "The same goes for sampling.",
      superseded("as for elicitation: the entry's `method` says which (F22)"),
    ],
    [
      "It does not allow several requests in one response.",
      superseded("the reason why it was rejected; the final form has a map (F22)"),
    ],
  ),
  ...under(
    "Option 2",
    [
      "The response has lists of elicitation and of sampling requests, in one member.",
      superseded("one map by key, each entry with its method (F22)"),
    ],
    ours(
      "what that would say is said by the final form.",
      by(at.final, "an answer that needs more: the same in all three of its forms"),
    ),
    [
      "For an answer, the client calls the tool again with all its parameters and what was asked for.",
      and(
        by(at.final, "an answer that needs more: the same in all three of its forms"),
        by(
          at.rounds,
          "has the same params, the answers and the token, under an id of its own, and ends the call",
        ),
      ),
    ],
    [
      "The reply has lists of elicitation and sampling answers, by the field's name.",
      superseded("`params.inputResponses`, by the question's key (F23)"),
    ],
  ),
  ...under(
    "Promises/Tasks",
    [
      "The status `input_required` says that a task needs more.",
      by(at.types, "additional information, and then the answer"),
    ],
    [
      "The client calls `tasks/result` and gets what is asked.",
      by(at.draft, "001: the echo tool's task, as printed"),
    ],
    [
      "Every kind can be asked so, sampling as well.",
      by(at.taskInput, "of every kind reaches the handler as it would in a round"),
    ],
    [
      "The client can send the answers one by one, as they come.",
      and(
        by(at.taskInput, "is applied when it is acknowledged: the next tasks/get no longer asks"),
        by(at.engine, "asks in parallel and takes the answers one by one"),
      ),
    ],
    [
      "The server knows by the task's id which task an answer is for.",
      by(
        at.taskInput,
        "what a task asks is sealed to it: another task's answer is none of its own",
      ),
    ],
    [
      "The answer is a result message with the id in `_meta`.",
      superseded("`tasks/update` with `params.taskId` (F10, F20, F21)"),
    ],
    ours(
      "what it says is said by `tasks/update`.",
      by(at.final, "a promise that needs more, answered under its task"),
    ),
    [
      "An answer accepts, declines or cancels.",
      by(at.taskInput, "may be a refusal: %s ends it in words"),
    ],
  ),
  ...under(
    "Streaming",
    [
      "A tool call may ask for a stream by `stream` in its params.",
      later("an issue on streaming; unknown params are ignored (F24)"),
    ],
    ours(
      "until then it changes nothing.",
      and(
        by(
          at.final,
          "`stream` is no parameter of tools/call: the answer comes as it would without",
        ),
        by(
          at.draft,
          "003: an answer to a promise as a message of its own is refused, and `stream` changes nothing",
        ),
      ),
    ),
    [
      "A promise may be streamed by `stream` on `tasks/result`.",
      later("an issue on streaming; there is no `tasks/result` (F9, F24)"),
    ],
    ours(
      "until then what comes before the result is progress and status.",
      by(
        at.types,
        "streaming: a later issue; until then progress and status are told while the one result is made",
      ),
    ),
  ),
];
