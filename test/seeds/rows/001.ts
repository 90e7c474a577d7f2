// The statements of document 001, the MRTR proposal.

import { and, at, by, chosen, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const weatherDraft = "001: the weather tool runs as printed";
const azureDraft = "001: Azure DevOps runs as printed";
const echoDraft = "001: the echo tool's task runs as printed";
const weatherFinal = "the weather tool asks once, gets its answer and completes";
const azureFinal =
  "Azure DevOps asks a second question that follows from the first answer, which the token keeps";
const echoFinal = "the echo tool runs from its call to its result";
const anotherInstance = "may go to another instance that shares only the keys";
const spoken = "the client sends the draft's messages as documented";
const asks = "has resultType, inputRequests, requestState and the server's name, and nothing else";

export const proposal: readonly Row[] = [
  ...under(
    "Abstract",
    ["The protocol becomes stateless.", by(at.rounds, anotherInstance)],
    [
      "A request from the server belongs to a request from the client.",
      by(at.notifications, "carries no request of the server"),
    ],
    [
      "This needs no sessions or lasting connections to map one to the other.",
      by(
        at.csharp,
        "awaits its question, and the rounds may go to servers that share only the key",
      ),
    ],
    [
      "A server that cannot keep a stream open can still sample and elicit.",
      by(
        at.notifications,
        "is not sent to a client that did not ask for it, whose response is plain JSON",
      ),
    ],
    [
      "A server's request is a response that says how to continue with more information.",
      by(at.rounds, asks),
    ],
    [
      "No state and no affinity on the server links the first request with the later ones.",
      and(
        by(at.rounds, anotherInstance),
        by(at.mishaps, "a client that never returns has left nothing behind"),
      ),
    ],
    [
      "1: `IncompleteResult` says that more is needed, with `inputRequests`, `requestState` or both.",
      by(at.draft, weatherDraft, azureDraft),
    ],
    ours(
      "1, it is an `InputRequiredResult`, recognised by its `resultType`.",
      by(at.final, weatherFinal),
    ),
    [
      "2: `inputResponses` and `requestState` are in the params of any request of the client.",
      superseded("only in those of `tools/call`, `prompts/get` and `resources/read` (F4)"),
    ],
    ours(
      "2, all three of these can ask.",
      and(
        by(at.rounds, "is the same for a prompt and a resource, and carries no caching hints"),
        by(at.rounds, "%s asks nothing"),
      ),
    ),
    [
      "3: standalone elicitation and sampling requests from the server are removed.",
      and(
        by(at.notifications, "carries no request of the server"),
        by(
          at.rounds,
          "carries each kind as the bare request of the specification, with flat forms",
        ),
      ),
    ],
    [
      "3: new request types take their place in `inputRequests`.",
      superseded("the existing request types, and roots as well (F6)"),
    ],
    [
      "4: both maps hold elicitation and sampling, typed.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
    [
      "5: there is a workflow without state and one with tasks.",
      by(
        at.mcpkit,
        "a round asks and creates no task, the next creates it, and the task works and asks its own question",
      ),
    ],
    [
      "6: `URLElicitationRequiredError` is replaced by the result that asks.",
      and(
        by(
          at.pages,
          "accepting means that the page will be opened, and the call continues when it is done",
        ),
        by(at.strangers, "the page is shown, and the call is made again"),
      ),
    ],
    ["7: `tasks/result` returns a result, or one that asks.", by(at.draft, echoDraft)],
    [
      "Ephemeral: the server can start from scratch when it has what it asked for.",
      and(
        by(at.tools, "the weather tool asks who wants to know"),
        by(at.round, "carries the call to any instance that has the key"),
      ),
    ],
    [
      "Persistent: a server that has collected a lot of state continues with it after the answer.",
      by(at.engine, "continues from the journal of the rounds, and nothing is asked or run again"),
    ],
    [
      "Persistent: the server may continue its work while it waits for an answer.",
      by(at.engine, "answers reach a handler whose step is still running"),
    ],
    [
      "An example is a VM that is started, and needs its user on the way.",
      by(
        "test/cli/demo-tool.test.ts",
        "the price is confirmed first; the rest is a task, which asks once more",
      ),
    ],
    [
      "The ephemeral form is cheap: it needs no session, and the server keeps nothing.",
      by(at.taskPhases, "an abandoned first round has left nothing in the store"),
    ],
  ),
  ...under(
    "Motivation",
    [
      "An elicitation during a tool call needs neither shared storage nor stateful balancing.",
      by(at.rounds, anotherInstance),
    ],
    [
      "It does not depend on an SSE stream.",
      by(
        at.notifications,
        "is not sent to a client that did not ask for it, whose response is plain JSON",
      ),
    ],
    [
      "Each HTTP request contains everything that is needed to serve it.",
      and(
        by(at.rounds, anotherInstance),
        by(
          at.mcpkit,
          "are in every request of 2026-07-28, and nothing is remembered of the previous one",
        ),
      ),
    ],
  ),
  ...under(
    "Specification, Data Structures",
    [
      "A server that needs more returns the new type of response.",
      by(at.final, "the shapes at the beginning are the same: a result that asks, and the retry"),
    ],
    [
      "It has an elicitation or sampling request for each key.",
      by(at.rounds, "carries each kind as the bare request of the specification, with flat forms"),
    ],
    [
      "The keys are chosen by the client.",
      superseded(
        "the server chooses them; this is a mistake in the document, whose own examples do so (F5)",
      ),
    ],
    [
      "`requestState` is an opaque text that holds what the server wants back.",
      and(
        by(at.rounds, "does not let a client read the contents of its token"),
        by(at.csharp, "returns its questions and its own state, and reads both in the next round"),
      ),
    ],
    [
      "The example of a result that asks, with state.",
      by(at.final, "the shapes at the beginning are the same: a result that asks, and the retry"),
    ],
    [
      "The client sends its answers in `inputResponses`, and returns `requestState`.",
      by(
        at.rounds,
        "has the same params, the answers and the token, under its own id, and ends the call",
      ),
    ],
    [
      "The example has both beside the params.",
      superseded("in the params, as the schema after it has it (F3)"),
    ],
    [
      "Both are optional members of the params.",
      and(
        by(at.rounds, "the retry of a state-only round needs no answers"),
        by(at.answers, "does not count without a token, and the question is asked"),
      ),
    ],
  ),
  ...under(
    "Specification, Use Cases for `requestState`",
    [
      "Rolling upgrades: earlier answers survive a version that asks something else.",
      and(
        by(at.round, "keeps the answer to a question that the new code asks later"),
        by(
          "test/faults/rolling.test.ts",
          "no call fails, no step runs twice and no answer is lost, whether a call is before, at or after the change",
        ),
        by(
          "src/server/round/other-version.test.ts",
          "is left to an instance of that version, and loses no answer",
        ),
      ),
    ],
    [
      "Load shedding: the server returns only state, without questions, and any other instance continues.",
      and(
        by(
          at.shedding,
          "at app.close() a call of twelve steps loses none: the response has the state, and another instance goes on",
          "the official client goes on with another instance, without noticing",
        ),
        by(at.csharp, "%s asks nothing, and continues from its token on another instance"),
      ),
    ],
  ),
  ...under(
    "Specification, Ephemeral Workflow",
    ["1: the client sends a request.", by(at.draft, weatherDraft)],
    [
      "2: the server responds that it needs more, which ends that request.",
      and(
        by(at.draft, weatherDraft),
        by(
          at.notifications,
          "ends with the result, is not buffered by proxies, and nothing follows it",
        ),
      ),
    ],
    [
      "3: the client fulfils what was asked and sends a new request, under a new id, with answers and state.",
      and(
        by(at.draft, weatherDraft),
        by(
          at.rounds,
          "has the same params, the answers and the token, under its own id, and ends the call",
        ),
      ),
    ],
    ["4: the server returns the result, or asks again.", by(at.draft, weatherDraft, azureDraft)],
    [
      "A server may respond to any client request in this way.",
      superseded("only three methods allow it; anything else is a server error (F4)"),
    ],
    [
      "The response that asks stands alone, or is the last message on a stream.",
      by(
        at.notifications,
        "ends with the result, is not buffered by proxies, and nothing follows it",
        "is not sent to a client that did not ask for it, whose response is plain JSON",
      ),
    ],
    [
      "It may have questions, state or both.",
      and(
        by(at.rounds, asks, "has only a token if nothing is asked"),
        by(at.strangers, "rounds work with and without state"),
        by(at.draftClient, "a server that asks without a state gets none back"),
      ),
    ],
    [
      "Servers should encrypt the state, protect its integrity, and bind it to the user.",
      and(
        by(at.rounds, "does not let a client read the contents of its token"),
        by(
          at.token,
          "a token with $name gets the same error as any other, and nothing runs",
          "a token is not valid for another principal, even if both use the same application",
        ),
      ),
    ],
    [
      "State that comes with a request must be validated: the client is not trusted.",
      by(
        at.token,
        "a token with $name gets the same error as any other, and nothing runs",
        "a token that is not a string is refused: %j",
      ),
    ],
    [
      "Clients must answer every question before they retry.",
      by(
        at.clientRounds,
        "five questions of five kinds lead to a result, and every step runs once",
      ),
    ],
    [
      "If nothing is asked, they may retry at once.",
      by(at.clientRounds, "a round without questions is retried after a pause"),
    ],
    [
      "They must return the state exactly, and must neither read nor change it.",
      by(
        at.clientHostile,
        "the state goes back byte for byte, even if it is empty, and only if there is one",
      ),
    ],
  ),
  ...under(
    "Persistent Workflow",
    [
      "The task's status is set to `input_required`, and `tasks/result` has the questions.",
      by(at.draft, echoDraft),
    ],
    ours("in the final form `tasks/get` has them.", by(at.final, echoFinal)),
    [
      "The client answers with `tasks/input_response`, and the server continues.",
      by(at.draft, echoDraft),
    ],
    ours("in the final form it answers with `tasks/update`.", by(at.final, echoFinal)),
    [
      "The questions of a task have the structure they have in rounds.",
      and(
        by(at.draft, echoDraft),
        by(at.taskInput, "an answer of every kind reaches the handler as it would in a round"),
      ),
    ],
    ["Answers are given without sending the first request again.", by(at.draft, echoDraft)],
    [
      "1: the server sets the status, and may pause.",
      by(at.engine, "runs steps, asks, sleeps and ends"),
    ],
    ["2: the client polls and sees it.", by(at.draft, echoDraft)],
    ["3: the client calls `tasks/result`.", by(at.draft, echoDraft)],
    ["4: the server returns the questions.", by(at.draft, echoDraft)],
    [
      "5: the client calls `tasks/input_response` with the answers, and names the task in `_meta`.",
      by(at.draft, echoDraft),
    ],
    [
      "6: the server sets the status to working and continues.",
      by(at.draft, "000: with its answer the task goes on until it is completed"),
    ],
    [
      "The message with the answers.",
      by(at.final, "the answer that the document shows first is the same message"),
    ],
    [
      "A server that has set `input_required` must return its questions from `tasks/result`.",
      by(at.draft, echoDraft),
    ],
    [
      "If there are no answers when its lifetime ends, the task should fail with a message.",
      and(
        by(at.tasks, "fails if its time is up before it is done, and is gone after a while"),
        by(
          at.engine,
          "a task whose time is up fails at that moment, without a sweep: no answer, delivery or body counts any more",
        ),
        by(
          at.draftTasks,
          "a task whose time is up before it was answered has failed, and says why",
        ),
      ),
    ],
    ["A client that sees `input_required` must call `tasks/result`.", by(at.draftClient, spoken)],
    [
      "It must send the answers, and must not send the first request again.",
      and(
        by(at.draftClient, spoken),
        by(at.draft, "001: our client completes the draft's flows"),
        by(at.clientTask, "questions come out and answers go in, each once"),
      ),
    ],
    [
      "A client that will not or cannot answer should cancel the task, which frees what the server holds for it.",
      and(
        by(
          at.undoing,
          "a client that cancels the task while it asks has what the task made deleted",
        ),
        by(at.draftClient, "a task that asks an unhandled question is cancelled"),
        by(at.clientHostile, "a question without a handler cancels the task"),
      ),
    ],
    [
      "Cancelling it frees resources on the server.",
      by(
        at.tasks,
        "frees what the task held: its place in the worker, its share of the caller's tasks, and its questions",
        "stops the running body, and its result is not reported",
      ),
    ],
  ),
  ...under(
    "Workflow Transitions",
    [
      "A request may begin in rounds and become a task when it has what it needs.",
      and(
        by(at.csharp, "is created after the question, when the handler decides, and completes"),
        by(
          at.serverTasks,
          "the answers of the rounds become the task's log, and nothing is asked or run again on any replica",
        ),
      ),
    ],
    [
      "There is no way back: from then on, everything goes through the task.",
      by(at.csharp, "is one-way: later questions are asked by the task, never again by a round"),
    ],
  ),
  ...under(
    "Error Handling",
    [
      "The server must check that the answers are well-formed.",
      by(at.answers, "answers that are not a map, but %s, are an error, not missing"),
    ],
    [
      "An answer that is malformed or violates the protocol's schema is a JSON-RPC error.",
      and(
        by(at.draftRounds, "malformed answers and states are refused with a message"),
        by(at.envelope, "a body that is not JSON is refused, and so is one that is not a request"),
        by(at.taskInput, "%s is -32602, and nothing is applied"),
      ),
    ],
    [
      "Unexpected keys are ignored.",
      by(
        at.answers,
        "is ignored if it comes with the right one, under another key or in further members",
      ),
    ],
    [
      "Missing answers are asked for again.",
      by(
        at.answers,
        "is asked for again, and is not an error: %j",
        "is the only one asked for if another answer came, which is kept",
      ),
    ],
    [
      "So a client can always recover, in rounds and in tasks.",
      by(
        at.final,
        "unrequested data is ignored, and the question is asked",
        "unrequested data is acknowledged, and the task asks again",
      ),
    ],
  ),
  ...under(
    "Rationale",
    [
      "A map has each key once, by its structure.",
      by(
        at.rounds,
        "has each key once: a handler that uses one twice gets an error, and nothing is asked",
      ),
    ],
    [
      "Bidirectional streams were rejected.",
      by(at.notifications, "carries no request of the server"),
    ],
    [
      "Status and result are two calls, so that polling always takes the same time.",
      by(at.draft, echoDraft),
    ],
    ours("in the final form one read has both (F15).", by(at.final, echoFinal)),
    [
      "Values of `inputResponses` are the results themselves, without a wrapper.",
      by(at.rounds, "answers of every kind at once are parsed as they were asked, with defaults"),
    ],
  ),
  ...under(
    "Backward Compatibility",
    [
      "Tools that await an elicitation between two mutations should be rewritten.",
      chosen(
        "they need not be: such a tool is replayed, with each mutation in a `ctx.step` that runs once, because code that awaits is easier to write and to read than a state machine (F28)",
      ),
    ],
    ours(
      "the inline form works: mutation, question, mutation, each once.",
      by(
        at.carriers,
        "a tool asks a form, a choice, a confirmation, the model and the roots, each after a step that runs once",
      ),
    ),
    [
      "A tool can look for the answer, and return a request if there is none.",
      by(at.csharp, "returns its questions and its own state, and reads both in the next round"),
    ],
    [
      "SDKs should have a layer for existing tools during the transition.",
      by(
        "test/hosts/adopt.test.ts",
        "works in rounds over %s",
        "is asked by the SDK itself in a 2025-11-25 session over %s",
      ),
    ],
    ours(
      "such a tool runs again in each round, and what it does before a question is repeated. In development the log says so.",
      by("test/hosts/adopt.test.ts", "in development the log says once that the tool runs again"),
    ),
  ),
  ...under(
    "Security Implications",
    [
      "All state from the client is validated.",
      by(at.token, "a token with $name gets the same error as any other, and nothing runs"),
    ],
    [
      "State that holds secrets is encrypted.",
      and(
        by(at.seal, "hides everything from a client"),
        by(at.rounds, "does not let a client read the contents of its token"),
      ),
    ],
    [
      "A user's state is bound to that user, to prevent replay and hijacking.",
      by(
        at.token,
        "a token is not valid for another principal, even if both use the same application",
      ),
    ],
    [
      "Plain state is treated as untrusted input.",
      by(at.csharp, "seals its state, so that a client can neither read nor forge it"),
    ],
  ),
  ...under("Reference Implementation", [
    "Schema types and example files are in the specification's repository.",
    and(
      by(at.extTasks, "the extension's schemas accept every message that we sent"),
      by(
        "test/conformance/conformance.test.ts",
        "$revision: every requirement is met, in $scenarios scenarios and $checks checks",
      ),
    ),
  ]),
  ...under("Ephemeral Workflow: Basic Flow", [
    "Steps 1 to 4: call, question, retry, result.",
    and(
      by(at.final, weatherFinal),
      by(at.draft, weatherDraft),
      by(at.tools, "the weather tool asks who wants to know"),
    ),
  ]),
  ...under(
    "Ephemeral Workflow: Multi-Round with requestState (Azure DevOps)",
    [
      "Resolving a bug requires a resolution.",
      and(by(at.final, azureFinal), by(at.draft, azureDraft)),
    ],
    [
      "A duplicate also requires the original bug.",
      and(
        by(at.final, azureFinal),
        by(at.tools, "a duplicate takes two questions, and any other resolution takes one"),
      ),
    ],
    [
      "The first answer is in the state of the second round.",
      and(by(at.final, azureFinal), by(at.draft, azureDraft)),
    ],
    [
      "The update is made when both are known.",
      and(
        by(at.final, azureFinal),
        by(
          at.examples,
          "work-items: the official client, three processes and one key make each write once",
        ),
      ),
    ],
    [
      "The first question goes out without a state.",
      chosen(
        "it has one, because without it nothing would show that the answer was given to this question (F8, S30)",
      ),
    ],
  ),
  ...under(
    "Persistent Workflow: Echo Tool with Elicitation",
    [
      "Steps 1 and 2: a call that becomes a task, at once.",
      and(
        by(at.final, echoFinal),
        by(at.draft, echoDraft),
        by(
          at.draftTasks,
          "a call that requests a task is a task from the start, whatever its handler does first",
        ),
      ),
    ],
    [
      "Steps 3 and 4: `input_required` in `tasks/get`.",
      and(by(at.final, echoFinal), by(at.draft, echoDraft)),
    ],
    ["Steps 5 and 6: the questions, with the task in `_meta`.", by(at.draft, echoDraft)],
    [
      "Steps 7 and 8: the answers, and an acknowledgement with the task in `_meta`.",
      by(at.draft, echoDraft),
    ],
    ours(
      "steps 7 and 8, in the final form an empty acknowledgement.",
      and(
        by(at.final, echoFinal),
        by(at.tasks, "tasks/update and tasks/cancel are acknowledged, with nothing else"),
      ),
    ),
    ["Step 9: completed, in `tasks/get`.", and(by(at.final, echoFinal), by(at.draft, echoDraft))],
    ["Step 10: the result, by `tasks/result`, with the task in `_meta`.", by(at.draft, echoDraft)],
  ),
  ...under(
    "Error Handling: Missing or Unexpected inputResponses",
    [
      "Rounds: unexpected data is ignored, and the question is asked again.",
      and(
        by(at.final, "unrequested data is ignored, and the question is asked"),
        by(at.draft, "001: unrequested data is ignored, as printed"),
      ),
    ],
    [
      "Tasks: it is acknowledged, and the task still requires input.",
      by(at.draft, "001: unrequested data leaves the task waiting, as printed"),
    ],
    [
      "Tasks: the next poll has a new question.",
      and(
        by(at.final, "unrequested data is acknowledged, and the task asks again"),
        by(
          at.taskInput,
          "an answer that does not fit the form is accepted, and the question is asked again under a new key",
        ),
      ),
    ],
  ),
  ...under(
    "InputRequests with Multiple Request Types",
    [
      "One response asks for an elicitation and a sampling.",
      and(
        by(at.final, "a form and a completion are asked in one round, and answered in one"),
        by(at.draft, "001: the form and the completion go out in one round, as printed"),
      ),
    ],
    [
      "Both are answered together, each in its own type.",
      and(
        by(at.final, "a form and a completion are asked in one round, and answered in one"),
        by(at.tools, "a form and a completion request go out together"),
      ),
    ],
    [
      "A sampling request has messages, model preferences, a system prompt and a token limit.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
  ),
];
