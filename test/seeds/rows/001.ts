// The statements of document 001, the MRTR proposal.

import { and, at, by, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const weatherDraft = "001: the weather tool, as printed";
const azureDraft = "001: Azure DevOps, as printed";
const echoDraft = "001: the echo tool's task, as printed";
const weatherFinal = "the weather tool: asked once, answered, done";
const azureFinal =
  "Azure DevOps: the second question follows from the first answer, and the token keeps it";
const echoFinal = "the echo tool from its call to its result";
const anotherInstance = "may go to another instance that shares nothing but the keys";
const spoken = "the draft is spoken as it is written";
const asks = "has resultType, inputRequests, requestState and the server's name, and nothing else";

export const proposal: readonly Row[] = [
  ...under(
    "Abstract",
    ["The protocol becomes stateless.", by(at.rounds, anotherInstance)],
    [
      "A request from the server belongs to a request from the client.",
      by(at.notifications, "carries no request of the server's"),
    ],
    [
      "This needs no sessions or lasting connections to map one to the other.",
      by(
        at.csharp,
        "awaits its question, and the rounds may go to servers that share nothing but the key",
      ),
    ],
    [
      "A server that cannot keep a stream open can still sample and elicit.",
      by(
        at.notifications,
        "is not sent to who has not asked for it, and the answer is plain JSON then",
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
        by(at.mishaps, "a client that never comes back has left nothing behind"),
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
        by(at.rounds, "of a prompt and of a resource is the same, and carries no caching hints"),
        by(at.rounds, "%s asks nothing"),
      ),
    ),
    [
      "3: standalone elicitation and sampling requests from the server are removed.",
      and(
        by(at.notifications, "carries no request of the server's"),
        by(
          at.rounds,
          "carries each kind as the bare request the specification has, with flat forms",
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
        "a round asks and makes no task; the next makes it; its work and its question are in the task",
      ),
    ],
    [
      "6: `URLElicitationRequiredError` is replaced by the result that asks.",
      and(
        by(at.pages, "means that it will be opened; the call goes on when it is done"),
        by(at.strangers, "the page is shown, and the call made again"),
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
      by(at.engine, "continues from the journal of the rounds: nothing is asked or run again"),
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
      by(at.taskPhases, "a first round that nobody comes back to has left nothing in the store"),
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
        "is not sent to who has not asked for it, and the answer is plain JSON then",
      ),
    ],
    [
      "Each HTTP request contains everything that is needed to serve it.",
      and(
        by(at.rounds, anotherInstance),
        by(
          at.mcpkit,
          "is in every request of 2026-07-28, and nothing is remembered of the one before",
        ),
      ),
    ],
  ),
  ...under(
    "Specification, Data Structures",
    [
      "A server that needs more returns the new type of response.",
      by(
        at.final,
        "the shapes it begins with are the same: a result that asks, and what is sent back",
      ),
    ],
    [
      "It has an elicitation or sampling request for each key.",
      by(at.rounds, "carries each kind as the bare request the specification has, with flat forms"),
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
        by(at.rounds, "lets nobody read what is in its token"),
        by(
          at.csharp,
          "returns its questions and a state of its own, and reads both in the next round",
        ),
      ),
    ],
    [
      "The example of a result that asks, with state.",
      by(
        at.final,
        "the shapes it begins with are the same: a result that asks, and what is sent back",
      ),
    ],
    [
      "The client sends its answers in `inputResponses`, and returns `requestState`.",
      by(
        at.rounds,
        "has the same params, the answers and the token, under an id of its own, and ends the call",
      ),
    ],
    [
      "The example has both beside the params.",
      superseded("in the params, as the schema after it has it (F3)"),
    ],
    [
      "Both are optional members of the params.",
      and(
        by(at.rounds, "of a state-only round needs no answers"),
        by(at.answers, "without a token counts for nothing: the question is put"),
      ),
    ],
  ),
  ...under(
    "Specification, Use Cases for `requestState`",
    [
      "Rolling upgrades: earlier answers survive a version that asks something else.",
      and(
        by(at.round, "keeps the answer to a question that is asked later now"),
        by("test/golden/golden.test.ts", "every round of $tool goes on"),
      ),
    ],
    [
      "Load shedding: the server returns only state, without questions, and any other instance continues.",
      and(
        by(at.csharp, "%s asks nothing, and goes on from its token on another instance"),
        by(at.rounds, "has only a token where nothing is asked"),
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
          "ends with the result, is held back by no proxy, and nothing follows it",
        ),
      ),
    ],
    [
      "3: the client fulfils what was asked and sends a new request, under a new id, with answers and state.",
      and(
        by(at.draft, weatherDraft),
        by(
          at.rounds,
          "has the same params, the answers and the token, under an id of its own, and ends the call",
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
        "ends with the result, is held back by no proxy, and nothing follows it",
        "is not sent to who has not asked for it, and the answer is plain JSON then",
      ),
    ],
    [
      "It may have questions, state or both.",
      and(
        by(at.rounds, asks, "has only a token where nothing is asked"),
        by(at.strangers, "rounds, with and without state"),
        by(at.draftClient, "that asks without a state gets none back"),
      ),
    ],
    [
      "Servers should encrypt the state, protect its integrity, and bind it to the user.",
      and(
        by(at.rounds, "lets nobody read what is in its token"),
        by(
          at.token,
          "with $name: one answer, nothing runs",
          "is no good for another, though both use the same application",
        ),
      ),
    ],
    [
      "State that comes with a request must be validated: the client is not trusted.",
      by(at.token, "with $name: one answer, nothing runs", "where it is no text at all: %j"),
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
      by(at.clientRounds, "a round without questions is paced and gone on with"),
    ],
    [
      "They must return the state exactly, and must neither read nor change it.",
      by(
        at.clientHostile,
        "the state goes back byte for byte, also an empty one, and only where there is one",
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
        by(at.taskInput, "of every kind reaches the handler as it would in a round"),
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
      by(at.draft, "000: with its answer the task is working again, until it is completed"),
    ],
    [
      "The message with the answers.",
      by(at.final, "the answer as it is first shown is the same message"),
    ],
    [
      "A server that has set `input_required` must return its questions from `tasks/result`.",
      by(at.draft, echoDraft),
    ],
    [
      "If there are no answers when its lifetime ends, the task should fail with a message.",
      and(
        by(at.tasks, "whose time is up before it is done has failed, and is gone after a while"),
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
        by(at.draft, "001: our client drives the draft's flows to their ends"),
        by(at.clientTask, "questions come out, answers go in, each once"),
      ),
    ],
    [
      "A client that will not or cannot answer should cancel the task.",
      and(
        by(at.draftClient, "whose task asks what nobody handles has it cancelled"),
        by(at.clientHostile, "a question nobody handles cancels the task"),
      ),
    ],
    [
      "Cancelling it frees resources on the server.",
      and(
        by(at.draftTasks, "a task is cancelled once, and tells so"),
        by(at.tasks, "stops the body that runs, and what it would have returned is not told"),
      ),
    ],
  ),
  ...under(
    "Workflow Transitions",
    [
      "A request may begin in rounds and become a task when it has what it needs.",
      and(
        by(
          at.csharp,
          "is made after the question, where the handler says so, and comes to its end",
        ),
        by(
          at.serverTasks,
          "what was told in rounds is the task's log; nothing is asked or run again, on any replica",
        ),
      ),
    ],
    [
      "There is no way back: from then on, everything goes through the task.",
      by(
        at.csharp,
        "is one way: what is asked from then on is asked by the task, never again by a round",
      ),
    ],
  ),
  ...under(
    "Error Handling",
    [
      "The server must check that the answers are well-formed.",
      by(at.answers, "answers that are no map, but %s, are an error, not missing"),
    ],
    [
      "An answer that is malformed or violates the protocol's schema is a JSON-RPC error.",
      and(
        by(at.draftRounds, "malformed answers and states are refused in words"),
        by(at.envelope, "a body that is no JSON is refused, and so is one that is no request"),
        by(at.taskInput, "%s is -32602, and nothing is applied"),
      ),
    ],
    [
      "Unexpected keys are ignored.",
      by(at.answers, "under another key, or in further members, is ignored beside the right one"),
    ],
    [
      "Missing answers are asked for again.",
      by(
        at.answers,
        "is asked for again, not taken for an error: %j",
        "while another came is asked for alone; the one that came is kept",
      ),
    ],
    [
      "So a client can always recover, in rounds and in tasks.",
      by(
        at.final,
        "data nobody asked for is ignored, and the question is put",
        "data nobody asked for is acknowledged, and the task asks again",
      ),
    ],
  ),
  ...under(
    "Rationale",
    [
      "A map has each key once, by its structure.",
      by(
        at.rounds,
        "has each key once: a handler that uses one twice is told so, and nothing is asked",
      ),
    ],
    [
      "Bidirectional streams were rejected.",
      by(at.notifications, "carries no request of the server's"),
    ],
    [
      "Status and result are two calls, so that polling always takes the same time.",
      by(at.draft, echoDraft),
    ],
    ours("in the final form one read has both (F15).", by(at.final, echoFinal)),
    [
      "Values of `inputResponses` are the results themselves, without a wrapper.",
      by(at.rounds, "of every kind at once is read as it was asked, with defaults"),
    ],
  ),
  ...under(
    "Backward Compatibility",
    [
      "Tools that await an elicitation between two mutations should be rewritten.",
      superseded(
        "this is not necessary here: such a tool is replayed, with each mutation in a `ctx.step` that runs once (F28)",
      ),
    ],
    ours(
      "the inline form works: mutation, question, mutation, each once.",
      by(
        at.carriers,
        "a tool asks a form, a choice, a yes, the model and the roots, each after a step that runs once",
      ),
    ),
    [
      "A tool can look for the answer, and return a request if there is none.",
      by(
        at.csharp,
        "returns its questions and a state of its own, and reads both in the next round",
      ),
    ],
    [
      "SDKs should have a layer for existing tools during the transition.",
      and(
        by(
          at.csharp,
          "a new server and an old client: the server asks by a request, and nothing in the tool changes",
        ),
        by("test/hosts/attach.test.ts", "the server's own tools and the app's both work"),
      ),
    ],
  ),
  ...under(
    "Security Implications",
    [
      "All state from the client is validated.",
      by(at.token, "with $name: one answer, nothing runs"),
    ],
    [
      "State that holds secrets is encrypted.",
      and(
        by(at.seal, "lets a client read nothing"),
        by(at.rounds, "lets nobody read what is in its token"),
      ),
    ],
    [
      "A user's state is bound to that user, to prevent replay and hijacking.",
      by(at.token, "is no good for another, though both use the same application"),
    ],
    [
      "Plain state is treated as untrusted input.",
      by(at.csharp, "its state is sealed: a client can neither read it nor make one up"),
    ],
  ),
  ...under("Reference Implementation", [
    "Schema types and example files are in the specification's repository.",
    and(
      by(at.extTasks, "its schemas take every message we have sent"),
      by(
        "test/conformance/conformance.test.ts",
        "$revision: all it requires, in $scenarios scenarios and $checks checks",
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
        by(at.tools, "a duplicate takes two questions, anything else one"),
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
          "work-items: the official client, three processes, one key; each write once",
        ),
      ),
    ],
    [
      "The first question goes out without a state.",
      superseded(
        "it has one, because an answer counts only for the question that was asked (F8, S30)",
      ),
    ],
  ),
  ...under(
    "Persistent Workflow: Echo Tool with Elicitation",
    [
      "Steps 1 and 2: a call that becomes a task, at once.",
      and(by(at.final, echoFinal), by(at.draft, echoDraft)),
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
        by(at.tasks, "tasks/update and tasks/cancel are acknowledged, and that is all"),
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
        by(at.final, "data nobody asked for is ignored, and the question is put"),
        by(at.draft, "001: data nobody asked for is ignored, as printed"),
      ),
    ],
    [
      "Tasks: it is acknowledged, and the task still requires input.",
      by(at.draft, "001: data nobody asked for leaves the task waiting, as printed"),
    ],
    [
      "Tasks: the next poll has a new question.",
      and(
        by(at.final, "data nobody asked for is acknowledged, and the task asks again"),
        by(
          at.taskInput,
          "that does not fit the form is taken, and the question put again under a new key",
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
        by(at.draft, "001: the form and the completion in one round, as printed"),
      ),
    ],
    [
      "Both are answered together, each in its own type.",
      and(
        by(at.final, "a form and a completion are asked in one round, and answered in one"),
        by(at.tools, "a form and a completion go out together"),
      ),
    ],
    [
      "A sampling request has messages, model preferences, a system prompt and a token limit.",
      by(at.final, "a form and a completion are asked in one round, and answered in one"),
    ],
  ),
];
