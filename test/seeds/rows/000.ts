// The statements of document 000, the message structure proposal.

import { and, at, by, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const flow = "Example Flow with Elicitations";
const inFinal = "the same flow has its question in tasks/get and its answer in tasks/update";
const inDraft = "000: the echo tool runs as printed, except for the document's slips";
const workingAgain = "000: with its answer the task goes on until it is completed";

export const messageStructure: readonly Row[] = [
  ...under(
    "Overview",
    ["Rounds and tasks fit together, shown by an example that elicits.", by(at.final, inFinal)],
    [
      "The return type of a tool request that needs elicitation or sampling is an open question.",
      superseded("it has been decided: `InputRequiredResult`, recognised by its `resultType` (F1)"),
    ],
  ),
  ...under(
    "Tasks Background",
    [
      "A request can be answered with a promise of its result.",
      by(at.tasks, "CreateTaskResult is flat, begins as working, and contains nothing else"),
    ],
    [
      "The status of a task is working, input required, completed, failed or cancelled.",
      by(
        at.tasks,
        "CreateTaskResult is flat, begins as working, and contains nothing else",
        "alternates between working and input_required, then ends and stays ended",
        "tasks/get of a task that ended in a protocol error has that error",
        "tasks/get of a cancelled task has only the base",
      ),
    ],
    [
      "With the status, a tool can say that it needs more from the user to complete the task.",
      by(at.tasks, "tasks/get of a task that asks has all its questions, as bare requests"),
    ],
    [
      "In that status the server can ask for elicitation or sampling.",
      by(at.taskInput, "an answer of every kind reaches the handler as it would in a round"),
    ],
    [
      "A client that sees the status should call `tasks/result`, which returns the request.",
      and(
        by(at.draft, inDraft),
        by(
          at.legacyTasks,
          "the stream of tasks/result carries the questions of a task, and the answers",
        ),
      ),
    ],
    ours(
      "the request is in `tasks/get` itself, and there is no `tasks/result`.",
      and(
        by(at.final, inFinal, "there is no tasks/result to stream from"),
        by(at.envelope, "%s does not exist in 2026-07-28: -32601 and 404"),
      ),
    ),
    [
      "Elicitation and sampling need not be sent unsolicited from server to client.",
      by(at.notifications, "carries no request of the server"),
    ],
  ),
  ...under(
    flow,
    [
      "The echo tool's input is optional; if it is missing, it is elicited before the call completes.",
      by(at.tools, "the echo tool asks in its task, unless the arguments already have the answer"),
    ],
    [
      "1: the client calls the tool and asks for a task with a given lifetime.",
      and(
        by(at.draft, inDraft),
        by(
          at.v1Tasks,
          "a call that requests a task is a task from its first line on, and asks while tasks/result waits",
        ),
      ),
    ],
    ours(
      "1, a client cannot ask for a task; the server decides, and ignores such a request.",
      by(at.tasks, "a request for a task changes nothing for a client that supports them"),
    ),
    [
      "2: the server returns a task with id, status, creation time, lifetime and polling interval.",
      by(at.final, inFinal),
    ],
    [
      "2: a status can have a message.",
      by(at.final, "a promise is a task that leads to its result"),
    ],
    [
      "3: the client polls the status with `tasks/get`.",
      and(
        by(at.final, inFinal),
        by(
          "src/client/with-tasks/with-tasks.test.ts",
          "is polled at its interval until it is completed, and the call gets its result",
        ),
      ),
    ],
    ["4: the response says that input is required.", by(at.final, inFinal)],
    ["5: the client calls `tasks/result` to learn which input.", by(at.draft, inDraft)],
    [
      "6: the response is an `elicitation/create` with the request's id and a method.",
      superseded("this is not a valid JSON-RPC response; the request is in `inputRequests` (F17)"),
    ],
    [
      "6: the question names its task in `_meta`.",
      and(
        by(at.draft, inDraft),
        by(
          at.legacyTasks,
          "the stream of tasks/result carries the questions of a task, and the answers",
        ),
      ),
    ],
    [
      "7: the client shows the elicitation to the user, and collects the answer.",
      by(at.clientTask, "questions come out and answers go in, each once"),
    ],
    [
      "7: it posts the answer as a result message that names the task in `_meta`.",
      superseded(
        "the request `tasks/update` carries it; only 2025-11-25 has responses from the client (F21)",
      ),
    ],
    ["8: it needs no response.", superseded("`tasks/update` is acknowledged (F11)")],
    [
      "8: with the answer the server continues, and the status is working again.",
      and(
        by(at.draft, workingAgain),
        by(
          at.tools,
          "the echo tool asks in its task, unless the arguments already have the answer",
        ),
      ),
    ],
    [
      "9: the client polls until the status is completed.",
      and(
        by(at.draftClient, "the client sends the draft's messages as documented"),
        by(at.clientTask, "questions come out and answers go in, each once"),
      ),
    ],
    ["10: the response says that the task is completed.", by(at.final, inFinal)],
    ["11: the client gets the final result with `tasks/result`.", by(at.draft, inDraft)],
    [
      "12: the final result is that of the tool, with the task named in `_meta`.",
      by(at.draft, inDraft),
    ],
    ours("11 and 12, the result is in `tasks/get`.", by(at.final, inFinal)),
  ),
  ...under(
    "Discussion Points",
    [
      "Tool calls and tasks ask for input in the same way.",
      and(
        by(
          at.mcpkit,
          "a round asks and creates no task, the next creates it, and the task works and asks its own question",
        ),
        by(at.taskInput, "an answer of every kind reaches the handler as it would in a round"),
      ),
    ],
    [
      "Needing input is a special result, like an error that the client can recover from.",
      by(
        at.rounds,
        "has resultType, inputRequests, requestState and the server's name, and nothing else",
      ),
    ],
    [
      "A task returns the request from `tasks/result`, and a tool call directly as the result of `tools/call`.",
      by(at.draft, inDraft, "001: the weather tool runs as printed"),
    ],
  ),
  ...under(
    "Option One",
    [
      "`tasks/result` returns an existing `elicitation/create` or `sampling/createMessage` message.",
      superseded(
        "considered and rejected, because a message with a method is not a response; not built (F17)",
      ),
    ],
    [
      "This hardly changes existing implementations.",
      superseded(
        "2025-11-25 keeps its own form: requests from the server on the stream of `tasks/result` (F9)",
      ),
    ],
    [
      "Its structure differs from that of results and errors.",
      superseded("this is why it was rejected (F17)"),
    ],
  ),
  ...under(
    "Option Two",
    [
      "A content block of a tool's result wraps an elicitation or a sampling request.",
      superseded(
        "considered and rejected in favour of a separate result type; requests are never in `content` (F18)",
      ),
    ],
    ours(
      "a question is never a block of content.",
      by(at.final, "a question is never a block of content"),
    ),
    [
      "All results have one structure, and `isError` is handled alike.",
      by(at.types, "can be a failure (%s)", "can fail"),
    ],
    [
      "A task could return a partial result and ask for input at the same time.",
      superseded("an `input_required` task has `inputRequests` and no `result` (S88)"),
    ],
    [
      "Several elicitation and sampling requests can be made at the same time.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
    [
      "The messages that tasks returned before become deprecated, because nothing is sent out of band any more.",
      and(
        by(at.final, "there is no tasks/result to stream from", inFinal),
        by(at.notifications, "carries no request of the server"),
      ),
    ],
    [
      "The schema of tool results becomes one of results in general.",
      superseded("a result keeps the type of its method, inline in the task (F9)"),
    ],
  ),
];
