// The statements of document 003, the response types.

import { and, at, by, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const eitherWay = "can need additional information first (%s)";

export const responseTypes: readonly Row[] = [
  ...under(
    "Overview",
    [
      "Tools and other capabilities have several well-defined types of response.",
      by(at.types, "can be complete (%s)", "can be completed"),
    ],
    [
      "Answer: request and response, for work that takes a short time.",
      by(at.types, "can be complete (%s)"),
    ],
    [
      "Promise: for long work, a token that gives the status, and later the result.",
      and(by(at.types, "can be completed"), by(at.resume, "works for a task, too")),
    ],
    [
      "A promise outlasts the time limit of an HTTP request.",
      by(
        at.tasks,
        "goes on after the request that created it has its response and its client is gone",
      ),
    ],
    [
      "Complete answer: the whole result as a structured object.",
      by(
        at.tasks,
        "CreateTaskResult is the same for a tool with an outputSchema, whose result has structured content",
      ),
    ],
    [
      "Failure: unrecoverable or unexpected, and not a JSON-RPC error.",
      by(at.types, "can be a failure (%s)", "can fail"),
    ],
    [
      "A JSON-RPC error differs from a failure of the tool.",
      by(
        at.types,
        "can be a protocol failure, which is an error",
        "can fail with a protocol error, which is an error",
      ),
    ],
    [
      "Additional information: the client can recover by sending what was asked for.",
      by(at.types, eitherWay, "can need additional information first"),
    ],
    [
      "Information is gathered by elicitation and by sampling.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
    [
      "Streaming: the result arrives in parts.",
      by(
        at.types,
        "can be streamed (%s)",
        "can be streamed after more information (%s)",
        "can be streamed",
        "can be streamed after more information",
      ),
    ],
  ),
  ...under(
    "Current Protocol Support, Answer",
    [
      "`tools/call` with a city returns a complete result.",
      and(
        by(at.draft, "003: answers are given as printed"),
        by(at.final, "a complete answer is a result"),
      ),
    ],
    [
      "The result can be a failure, with `isError` and a text.",
      and(
        by(at.draft, "003: answers are given as printed"),
        by(at.final, "a failed answer is a result that says so"),
      ),
    ],
  ),
  ...under(
    "Current Protocol Support, Promise",
    [
      "Tasks are how a promise is made.",
      by(at.final, "a promise is a task that leads to its result"),
    ],
    [
      "With `task` in the request, the client says that it wants a promise.",
      and(
        by(at.draft, "003: a promise is given as printed"),
        by(
          at.draftTasks,
          "a call that requests a task is a task from the start, whatever its handler does first",
        ),
        by(
          at.v1Tasks,
          "a call that requests a task is a task from its first line on, and asks while tasks/result waits",
        ),
      ),
    ],
    ours(
      "in the final form the client declares that it can follow tasks, and the server decides.",
      by(at.tasks, "the handler decides, and quick work gets its result at once"),
    ),
    ["Its status has a message.", by(at.final, "a promise is a task that leads to its result")],
    [
      "The response has an id, which gives the status and later the result.",
      by(at.final, "a promise is a task that leads to its result"),
    ],
    [
      "It has a status, a creation time, a lifetime and a polling interval.",
      by(at.draft, "003: a promise is given as printed"),
    ],
  ),
  ...under(
    "Additional Information Needed Result",
    [
      "Today, servers ask with `elicitation/create` or `sampling/createMessage`.",
      by(
        at.legacy,
        "the server asks by a request on the stream of the call, and gets the answer in a response",
      ),
    ],
    [
      "A new type of response can hold several of them.",
      by(at.rounds, "carries each kind as the bare request of the specification, with flat forms"),
    ],
  ),
  ...under(
    "Option 1",
    [
      "The response to a tool call is an elicitation or sampling message itself.",
      superseded("considered and rejected, because it is not a valid response; not built (F17)"),
    ],
    [
      "The retry carries the answer in `elicitation` beside its params.",
      superseded("`params.inputResponses` (F23)"),
    ],
    [
      "The same goes for sampling.",
      superseded("as for elicitation; the entry's `method` says which it is (F22)"),
    ],
    [
      "It does not allow several requests in one response.",
      superseded("this is why it was rejected; the final form has a map (F22)"),
    ],
  ),
  ...under(
    "Option 2",
    [
      "The response has lists of elicitation and of sampling requests, in one member.",
      superseded("one map by key, each entry with its method (F22)"),
    ],
    ours(
      "the final form says the same.",
      by(at.final, "an answer that needs more is the same in all three of its forms"),
    ),
    [
      "To answer, the client calls the tool again with all its parameters and what was asked for.",
      and(
        by(at.final, "an answer that needs more is the same in all three of its forms"),
        by(
          at.rounds,
          "has the same params, the answers and the token, under its own id, and ends the call",
        ),
      ),
    ],
    [
      "The retry has lists of elicitation and sampling answers, by the name of the field.",
      superseded("`params.inputResponses`, by the question's key (F23)"),
    ],
  ),
  ...under(
    "Promises/Tasks",
    [
      "The status `input_required` says that a task needs more.",
      by(at.types, "can need additional information first"),
    ],
    [
      "The client calls `tasks/result` and gets the questions.",
      by(at.draft, "001: the echo tool's task runs as printed"),
    ],
    [
      "Every kind can be asked in this way, including sampling.",
      by(at.taskInput, "an answer of every kind reaches the handler as it would in a round"),
    ],
    [
      "The client can send the answers one by one.",
      and(
        by(
          at.taskInput,
          "is applied when it is acknowledged, so that the next tasks/get no longer asks",
        ),
        by(at.engine, "asks in parallel and takes the answers one by one"),
      ),
    ],
    [
      "The task's id tells the server which task an answer is for.",
      by(
        at.taskInput,
        "the questions of a task are sealed to it, and another task's answer does not fit",
      ),
    ],
    [
      "The answer is a result message with the id in `_meta`.",
      superseded("`tasks/update` with `params.taskId` (F10, F20, F21)"),
    ],
    ours(
      "`tasks/update` says the same.",
      by(at.final, "a promise that needs more is answered under its task"),
    ),
    [
      "An answer accepts, declines or cancels.",
      by(at.taskInput, "may be a refusal: %s ends the task with a message"),
    ],
  ),
  ...under(
    "Streaming",
    [
      "A tool call may ask for a stream with `stream` in its params.",
      by(
        at.draft,
        "003: an answer is streamed with `stream` in the params of tools/call, before the same result",
      ),
    ],
    ours(
      "in the final form, an extension asks for it, and `stream` has no effect.",
      and(
        by(
          at.streaming,
          "sends parts under its token before its result, which may be a question; the next round sends only what is new",
        ),
        by(
          at.final,
          "`stream` is not a parameter of tools/call, and the response is the same without it",
        ),
      ),
    ),
    [
      "A promise may be streamed with `stream` on `tasks/result`.",
      by(
        at.draft,
        "003: a promise is streamed with `stream` beside the params of tasks/result, before its result",
      ),
    ],
    ours(
      "in the final form, which has no `tasks/result`, a request of the extension reads it, while it is made.",
      and(
        by(at.types, "can be streamed"),
        by(
          at.taskStreaming,
          "a client reads a task's streams as they are made, and goes on after its question",
        ),
      ),
    ),
  ),
];
