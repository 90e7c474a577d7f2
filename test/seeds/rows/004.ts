// The statements of document 004, the C# SDK's page.

import { and, at, by, chosen, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const optIn = "a server with drafts meets a client that %s";
const notIn =
  "a server without drafts responds to a request for one as before, and the client says so";
const oldClient = "a new server asks an old client by a request, and nothing in the tool changes";
const bothClients =
  "serves a client with rounds, and a client without rounds, which never sees a result that asks";
const affinity = "awaits its question, and the rounds may go to servers that share only the key";
const byHand = "returns its questions and its own state, and reads both in the next round";
const deferral = "%s asks nothing, and continues from its token on another instance";
const oneWay = "is one-way: later questions are asked by the task, never again by a round";
const made = "is created after the question, when the handler decides, and completes";
const wished =
  "004: a task is created after the question if the client requested one, and completes";
const can = "is what ctx.can says, from the client's declaration, in either era";

/** The page has no headings that were kept; these are ours. */
export const csharpPage: readonly Row[] = [
  ...under(
    "Introduction",
    [
      "It is experimental, and both sides must opt in to a draft version.",
      by(at.draftClient, optIn, notIn),
    ],
    [
      "A tool can ask for elicitation, sampling or roots within one call, without a request for each.",
      by(at.csharp, "asks several questions of several kinds at once if they are awaited together"),
    ],
    [
      "Instead of a result, the server returns one that asks; the client answers and calls again.",
      by(at.draft, "001: the weather tool runs as printed"),
    ],
    ["Used for a confirmation by the user.", by(at.tools, "an action is confirmed or cancelled")],
    [
      "Used for the reasoning of the client's model.",
      by(at.tools, "a form and a completion request go out together"),
    ],
    [
      "Used for the client's roots.",
      by(at.tools, "the client supplies its roots, and the user types nothing"),
    ],
    ["Used for several rounds in one operation.", by(at.csharp, "%s keeps the name")],
    [
      "Used for a stateless server with many steps that keeps no handler in memory.",
      by(at.csharp, affinity),
    ],
    ["1: the client calls the tool.", by(at.csharp, byHand)],
    [
      "2: the tool returns that it needs input, with questions, state or both.",
      by(at.csharp, byHand, deferral),
    ],
    [
      "3: the client resolves each question.",
      by(
        at.clientRounds,
        "five questions of five kinds lead to a result, and every step runs once",
      ),
    ],
    ["4: it calls again with the answers by key and the state.", by(at.csharp, byHand)],
    [
      "5: the server returns a result, or asks again.",
      by(at.csharp, "the wizard keeps the name even if the last request has only the age"),
    ],
  ),
  ...under(
    "Opting in",
    ["Client and server name the draft version `2026-06-XX`.", by(at.draftClient, optIn, notIn)],
    ours(
      "the final version is 2026-07-28, and the draft is not served unless it is turned on.",
      and(
        by(
          at.envelope,
          "an unsupported version is -32022 and 400, and the error names the supported ones",
        ),
        by(
          at.draftOff,
          "with drafts %s, a client that opens with the draft is treated like one with an unknown version",
          "with drafts, every request of 2026-07-28 gets the same bytes as without, broken in every way (fast entry: %s)",
        ),
        by(at.draftClient, optIn, notIn),
      ),
    ),
    [
      "The client gives handlers for elicitation and sampling.",
      by(
        at.clientRounds,
        "five questions of five kinds lead to a result, and every step runs once",
        "the error says that the server asks a question, and how to answer it",
      ),
    ],
    [
      "If one side does not opt in, both fall back to the standard.",
      by(at.draftClient, optIn, notIn),
    ],
    ours(
      "a client that negotiates nothing newer is served as before.",
      by(at.csharp, "a client that does not negotiate a newer version keeps its own"),
    ),
  ),
  ...under(
    "High-level API",
    ["A handler elicits and samples as if these were plain async calls.", by(at.csharp, affinity)],
    [
      "The library drives the rounds, and the handler does not see them.",
      by(
        at.carriers,
        "a tool asks a form, a choice, a confirmation, the model and the roots, each after a step that runs once",
      ),
    ],
    [
      "A confirmation that is accepted, or not.",
      by(at.csharp, "distinguishes what the person did: %s"),
    ],
    ["For the client it is one call.", by(at.csharp, "distinguishes what the person did: %s")],
    [
      "It needs session affinity: the handler stays in memory between rounds.",
      chosen(
        "the handler is replayed, because then any replica can serve the next round, and none has to keep it in memory (F28)",
      ),
    ],
    ours("it needs none.", by(at.csharp, affinity)),
  ),
  ...under(
    "Low-level API",
    [
      "A handler manages questions and state itself, and keeps nothing in memory.",
      by(at.csharp, byHand),
    ],
    [
      "It first checks whether the client supports rounds, and has a fallback.",
      by(at.csharp, can, "decides whether the handler gives its own message, with advice"),
    ],
    [
      "It throws an exception that carries the result that asks.",
      by(at.round, "may throw what it could return, including what the SDK makes"),
    ],
    ours("it may also return it.", by(at.csharp, byHand)),
    ["Questions, state or both.", by(at.csharp, byHand, deferral)],
    ["On the retry it reads state and answers, and returns.", by(at.csharp, byHand)],
    [
      "The state is a word in plain text.",
      chosen(
        "it is any JSON, and always sealed, because an author could not know when plain text does no harm (F32)",
      ),
    ],
    ours(
      "it is sealed anyway.",
      by(at.csharp, "seals its state, so that a client can neither read nor forge it"),
    ),
    ["Answers are by the keys of the questions.", by(at.csharp, byHand)],
    [
      "There are helpers that create each kind of request.",
      by(at.csharp, "reads each kind of answer with the accessors of the SDK"),
    ],
    [
      "There are typed accessors for elicitation, sampling and roots.",
      by(at.csharp, "reads each kind of answer with the accessors of the SDK"),
    ],
    ours(
      "an answer without its question does not reach the handler.",
      and(
        by(at.csharp, "has answers only to what it asked, each once"),
        by(at.answers, "does not reach a handler that drives its own rounds"),
      ),
    ),
  ),
  ...under(
    "State alone",
    ["A server can return state without questions, to defer its work.", by(at.csharp, deferral)],
    [
      "This sheds load, or splits long work into several requests.",
      and(
        by(
          at.shedding,
          "at app.close() a call of twelve steps loses none: the response has the state, and another instance goes on",
          "limits.roundMs spreads a long call over rounds, and leaves the official client enough of its ten",
        ),
        by(at.tools, "deferred work continues in another round without a question"),
      ),
    ],
    [
      "The client calls again by itself, with nothing to resolve.",
      by(at.csharp, "is sent again automatically by our client and by the official one"),
    ],
    ours(
      "finished work is not done again.",
      by(at.mishaps, "a lost response of a state-only round repeats nothing that was in its token"),
    ),
  ),
  ...under(
    "Several rounds",
    ["A tool can ask in several retries.", by(at.csharp, "%s keeps the name")],
    [
      "The wizard asks for a name, then for an age, and greets.",
      by(at.tools, "the wizard still knows the name when it has the age"),
    ],
    ours(
      "as printed, its last step reads an answer that the client no longer sends.",
      by(
        at.csharp,
        "the printed wizard loses the name, because a client sends only the answers of the last round",
      ),
    ),
    ours(
      "all answers are kept.",
      by(at.csharp, "the wizard keeps the name even if the last request has only the age"),
    ),
    [
      "A tool can advise users whose client does not support rounds.",
      by(at.csharp, "decides whether the handler gives its own message, with advice"),
    ],
  ),
  ...under(
    "Compatibility",
    ["New server, new client: rounds.", by(at.csharp, "a new server and a new client use rounds")],
    ["New server, old client: requests from the server.", by(at.csharp, oldClient)],
    [
      "Old server, new client: the stable version, and no rounds.",
      by(at.csharp, "an old server and a new client speak the negotiated version, without rounds"),
    ],
    [
      "Old server, old client: as before.",
      by(at.csharp, "an old server and an old client are not affected"),
    ],
    ours(
      "the same four, with the draft instead of the final version.",
      by(at.draftClient, optIn, notIn),
    ),
    ["The high-level form falls back without changes to the code.", by(at.csharp, oldClient)],
    [
      "The low-level form says that there are no rounds, and the tool returns its own text.",
      chosen(
        "`ctx.can` is true in a session, because the client can be asked there: by requests of the server (F29)",
      ),
    ],
    ours(
      "without a session it cannot be asked, and a handler that checks first does not ask.",
      by(at.legacy, "a handler that checks first can do without asking"),
    ),
    [
      "A low-level tool works with clients that do not support rounds: each question is sent as a request, and the handler is called again.",
      by(at.csharp, bothClients),
    ],
    [
      "One implementation works with any client.",
      and(
        by(at.csharp, bothClients),
        by(at.everyWay, "over HTTP, a client with %s of %s comes to the same end"),
      ),
    ],
    ["With rounds the result that asks goes over the wire.", by(at.csharp, bothClients)],
    ["Without them the client never sees it.", by(at.csharp, bothClients)],
    [
      "That loop resolves at most ten rounds.",
      chosen(
        "the server's own limit applies, fifty rounds or `limits.rounds`, because the loop is in the server, which knows how often its tools ask (F30)",
      ),
    ],
    ours(
      "a call that takes more ends with a text.",
      and(
        by(
          at.csharp,
          "is the server's for a client that is asked by requests, and the call ends with a message",
        ),
        by(
          at.carriers,
          "a call can ask as many questions as the official side allows, one after the other",
          "one more question is refused with a message",
        ),
      ),
    ),
    ours(
      "the client's own loop also has a limit, which is ten.",
      by(at.csharp, "is ten for a client that is asked again and again, and can be raised"),
    ),
    ours(
      "the server has a limit, too.",
      by(at.csharp, "is the server's own as well, because a token is valid for a limited number"),
    ),
    [
      "Tools that need more rounds use the high-level form.",
      chosen("both forms have the same limit, because they use the same loop (F30)"),
    ],
  ),
  ...under(
    "Deferred task creation",
    [
      "It needs rounds and tasks.",
      by(at.serverTasks, "a tool that needs a store says so when there is none"),
    ],
    ["A tool can ask before it decides whether to start a task.", by(at.csharp, made)],
    ["The tool is marked: `DeferTaskCreation`.", by(at.draft, wished)],
    ours(
      "in the final form there is no mark, and every handler decides.",
      by(at.tasks, "the handler decides, and quick work gets its result at once"),
    ),
    [
      "An attribute on a method says the same.",
      chosen("the config says it, because a function has no attributes in TypeScript (F35)"),
    ],
    ["The client sends task metadata with its call.", by(at.draft, wished)],
    ours(
      "in the final form it declares the extension, and metadata has no meaning.",
      by(at.tasks, "a request for a task changes nothing for a client that supports them"),
    ),
    [
      "With metadata the tool runs in rounds, and no task is created at first.",
      by(at.draft, wished),
    ],
    ["Before the task, questions are rounds.", by(at.csharp, made)],
    ["The tool creates the task when it is ready.", by(at.csharp, made)],
    ["After that, questions belong to the task.", by(at.csharp, oneWay)],
    [
      "They are answered with `tasks/input_response`.",
      by(at.draft, "001: the echo tool's task runs as printed"),
    ],
    ours("in the final form with `tasks/update`.", by(at.csharp, oneWay)),
    [
      "A tool that returns before that gives a plain result.",
      and(
        by(at.draft, "004: if a task is requested but not created, the result is an ordinary one"),
        by(
          at.csharp,
          "is not created if the handler returns first, and the result is an ordinary one",
        ),
      ),
    ],
    [
      "The VM is confirmed, then created in the background.",
      and(
        by(at.draft, wished),
        by(at.csharp, made),
        by(at.tools, "a VM is confirmed in a round, then created in the task, which asks about it"),
      ),
    ],
    [
      "Any action other than `confirm` is a refusal.",
      superseded("there is no such action; the actions are accept, decline and cancel (F34)"),
    ],
    ours(
      "`confirm` is not an answer.",
      by(at.csharp, "an answer is accepted, declined or cancelled, and there is no `confirm`"),
    ),
    [
      "The client polls for the status of the work.",
      by(at.clientTask, "a task that asks nothing returns its result"),
    ],
    [
      "The tool says that tasks are optional.",
      and(
        by(at.draftTasks, "the server declares tasks, and each tool says whether it can be one"),
        by(at.tasks, "a request that declares %s (%j) gets a %s result"),
      ),
    ],
    ["One way: there are no rounds after the task is created.", by(at.csharp, oneWay)],
    [
      "The tool decides at run time whether there is a task.",
      by(at.tasks, "the handler decides, and quick work gets its result at once"),
    ],
    [
      "Without metadata there is no task: the tool runs in rounds.",
      and(
        by(
          at.draft,
          "004: without a requested task the tool runs in rounds, to its end or to a refusal",
        ),
        by(
          at.csharp,
          "is never created for a client that does not support tasks, and the same handler continues in rounds",
        ),
      ),
    ],
  ),
  ...under(
    "Which form to use",
    [
      "Affinity: high-level required, low-level not.",
      chosen("neither requires it, because both keep their state in the token (F28)"),
    ],
    ours("neither form needs it.", by(at.csharp, affinity, deferral)),
    [
      "State: automatic in the high-level form, manual in the low-level one.",
      by(at.csharp, affinity, byHand),
    ],
    [
      "The high-level form consists of simple awaits.",
      by(at.tools, "the wizard still knows the name when it has the age"),
    ],
    [
      "Stateless servers: only the low-level form.",
      chosen("both, because both keep their state in the token (F28)"),
    ],
    [
      "Fallback: automatic in the high-level form, by a check in the low-level one.",
      by(at.csharp, oldClient, can),
    ],
    [
      "The high-level form asks one thing at a time.",
      chosen(
        "it asks as many as the handler awaits together, because each round costs a request (F37)",
      ),
    ],
    [
      "One round can have several kinds of question, in either form.",
      by(
        at.csharp,
        "asks several questions of several kinds at once if they are awaited together",
        "reads each kind of answer with the accessors of the SDK",
      ),
    ],
  ),
];
