import { and, at, by, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const flow = "Example Flow with Elicitations";
const inFinal = "the same life, with its question in tasks/get and its answer in tasks/update";
const inDraft = "000: the echo tool, as printed but for its slips";
const workingAgain = "000: with its answer the task is working again, until it is completed";

export const messageStructure: readonly Row[] = [
  ...under(
    "Overview",
    ["Rounds and tasks fit together, shown by an example that elicits.", by(at.final, inFinal)],
    [
      "It is open what the return type of a tool request is that needs elicitation or sampling.",
      superseded("it is decided: `InputRequiredResult`, told apart by `resultType` (F1)"),
    ],
  ),
  ...under(
    "Tasks Background",
    [
      "A request can be answered with a promise of its result.",
      by(at.tasks, "CreateTaskResult is flat, begins as working, and holds nothing else"),
    ],
    [
      "A task is working, in need of input, completed, failed or cancelled.",
      by(
        at.tasks,
        "CreateTaskResult is flat, begins as working, and holds nothing else",
        "moves between working and input_required, then ends and stays so",
        "of one that ended in an error of the protocol, that error",
        "of a cancelled one, the base alone",
      ),
    ],
    [
      "A tool can say by the status that it needs more from the user to complete the task.",
      by(at.tasks, "of one that asks, all that is asked, as bare requests"),
    ],
    [
      "In that status the server can put an elicitation or a sampling request.",
      by(at.taskInput, "of every kind reaches the handler as it would in a round"),
    ],
    [
      "A client that meets the status should call `tasks/result`, and gets the request there.",
      and(
        by(at.draft, inDraft),
        by(
          at.legacyTasks,
          "of one that asks come on the stream of tasks/result, and are answered there",
        ),
      ),
    ],
    ours(
      "the request is in `tasks/get` itself, and there is no `tasks/result`.",
      and(
        by(at.final, inFinal, "nor is there a tasks/result to stream from"),
        by(at.envelope, "%s does not exist in 2026-07-28: -32601 and 404"),
      ),
    ),
    [
      "Elicitation and sampling need not be sent unsolicited from server to client.",
      by(at.notifications, "carries no request of the server's"),
    ],
  ),
  ...under(
    flow,
    [
      "The echo tool's input is optional; where it is missing, it is elicited before the call completes.",
      by(at.tools, "the echo tool asks in its task, unless it was told"),
    ],
    [
      "1: the client calls the tool with a wish for a task that lives so long.",
      and(
        by(at.draft, inDraft),
        by(
          at.v1Tasks,
          "a call with a wish is a task from its first line on, asked while tasks/result waits",
        ),
      ),
    ],
    ours(
      "1, there is no wish; the server decides, and a wish changes nothing.",
      by(at.tasks, "a wish for one changes nothing for a client that follows them"),
    ),
    [
      "2: the server answers with a task: id, status, time of creation, life, interval.",
      by(at.final, inFinal),
    ],
    ["2: a status can come with words.", by(at.final, "a promise, and what it comes to")],
    [
      "3: the client asks for the status every now and then, by `tasks/get`.",
      and(
        by(at.final, inFinal),
        by(
          "src/client/with-tasks/with-tasks.test.ts",
          "is polled at its interval until it is completed, and the call gets its result",
        ),
      ),
    ],
    ["4: the answer says that input is required.", by(at.final, inFinal)],
    ["5: the client asks by `tasks/result` which input.", by(at.draft, inDraft)],
    [
      "6: the response is an `elicitation/create` with the request's id and a method.",
      superseded("no valid JSON-RPC response; the request stands in `inputRequests` (F17)"),
    ],
    [
      "6: the question names its task in `_meta`.",
      and(
        by(at.draft, inDraft),
        by(
          at.legacyTasks,
          "of one that asks come on the stream of tasks/result, and are answered there",
        ),
      ),
    ],
    [
      "7: the client shows the elicitation to the user, and collects the answer.",
      by(at.clientTask, "questions come out, answers go in, each once"),
    ],
    [
      "7: it posts the answer as a result message that names the task in `_meta`.",
      superseded(
        "a request, `tasks/update`, carries it; responses from the client are of 2025-11-25 alone (F21)",
      ),
    ],
    ["8: nothing need be answered to it.", superseded("`tasks/update` is acknowledged (F11)")],
    [
      "8: with the answer the server goes on, and the status is working again.",
      and(
        by(at.draft, workingAgain),
        by(at.tools, "the echo tool asks in its task, unless it was told"),
      ),
    ],
    [
      "9: the client goes on asking for the status until it is completed.",
      and(
        by(at.draftClient, "the draft is spoken as it is written"),
        by(at.clientTask, "questions come out, answers go in, each once"),
      ),
    ],
    ["10: the answer says that the task is completed.", by(at.final, inFinal)],
    ["11: the client gets the final result by `tasks/result`.", by(at.draft, inDraft)],
    [
      "12: the final result is that of the tool, with the task named in `_meta`.",
      by(at.draft, inDraft),
    ],
    ours("11 and 12, the result is in `tasks/get`.", by(at.final, inFinal)),
  ),
  ...under(
    "Discussion Points",
    [
      "Tool calls and tasks ask for more in the same pattern.",
      and(
        by(
          at.mcpkit,
          "a round asks and makes no task; the next makes it; its work and its question are in the task",
        ),
        by(at.taskInput, "of every kind reaches the handler as it would in a round"),
      ),
    ],
    [
      "To need more is a special result, like an error that can be recovered from.",
      by(
        at.rounds,
        "has resultType, inputRequests, requestState and the server's name, and nothing else",
      ),
    ],
    [
      "A task gives the request by `tasks/result`, a tool call directly as the result of `tools/call`.",
      by(at.draft, inDraft, "001: the weather tool, as printed"),
    ],
  ),
  ...under(
    "Option One",
    [
      "`tasks/result` is answered with an existing `elicitation/create` or `sampling/createMessage` message.",
      superseded("weighed and rejected: a response with a method is none; not built (F17)"),
    ],
    [
      "That leaves existing implementations nearly as they are.",
      superseded(
        "2025-11-25 keeps its own way: requests of the server on the stream of `tasks/result` (F9)",
      ),
    ],
    [
      "Its structure is unlike that of results and errors.",
      superseded("the reason why it was rejected (F17)"),
    ],
  ),
  ...under(
    "Option Two",
    [
      "A content block of a tool's result wraps an elicitation or a sampling request.",
      superseded(
        "weighed and rejected: a result type of its own; requests are never in `content` (F18)",
      ),
    ],
    ours(
      "a question is never a block of content.",
      by(at.final, "a question is never a block of content"),
    ),
    [
      "All results have one structure, and `isError` is handled alike.",
      by(at.types, "a failure (%s)", "a failure"),
    ],
    [
      "A task could give a partial result and ask for input in one answer.",
      superseded("an `input_required` task has `inputRequests` and no `result` (S88)"),
    ],
    [
      "Several elicitation and sampling requests can be put at the same time.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
    [
      "The messages that tasks returned before become deprecated, as nothing is out of band any more.",
      and(
        by(at.final, "nor is there a tasks/result to stream from", inFinal),
        by(at.notifications, "carries no request of the server's"),
      ),
    ],
    [
      "The schema of tool results becomes one of results in general.",
      superseded("a result keeps the type of its method, inline in the task (F9)"),
    ],
  ),
];
