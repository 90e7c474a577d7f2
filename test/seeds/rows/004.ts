import { and, at, by, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const optIn = "a server with drafts, and a client that %s";
const notIn = "a server without drafts answers a wish for one as ever, and the client says so";
const oldClient =
  "a new server and an old client: the server asks by a request, and nothing in the tool changes";
const bothClients =
  "serves a client with rounds and one without, which never sees a result that asks";
const affinity =
  "awaits its question, and the rounds may go to servers that share nothing but the key";
const byHand = "returns its questions and a state of its own, and reads both in the next round";
const deferral = "%s asks nothing, and goes on from its token on another instance";
const oneWay =
  "is one way: what is asked from then on is asked by the task, never again by a round";
const made = "is made after the question, where the handler says so, and comes to its end";
const wished =
  "004: a task is made after the question, where the client wished for one, and comes to its end";
const can = "is for ctx.can to say: by its declaration, in either era";

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
      by(at.csharp, "asks several at once where they are awaited together, of several kinds"),
    ],
    [
      "In place of a result the server returns one that asks; the client fulfils and calls again.",
      by(at.draft, "001: the weather tool, as printed"),
    ],
    ["For a confirmation by the user.", by(at.tools, "an action is confirmed or not")],
    [
      "For the reasoning of the client's model.",
      by(at.tools, "a form and a completion go out together"),
    ],
    [
      "For the client's roots.",
      by(at.tools, "roots are asked of the client, and nobody has to type them"),
    ],
    ["For several rounds in one operation.", by(at.csharp, "%s keeps it")],
    [
      "For a stateless server with many steps, and nothing of a handler in memory.",
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
      "5: the server returns a result, or asks on.",
      by(at.csharp, "keeps it though the last request has the age alone"),
    ],
  ),
  ...under(
    "Opting in",
    ["Client and server name the draft version `2026-06-XX`.", by(at.draftClient, optIn, notIn)],
    ours(
      "the final version is 2026-07-28, and the draft's is not served unless it is turned on.",
      and(
        by(at.envelope, "of a version nobody serves is -32022 and 400, and names those that are"),
        by(
          at.draftOff,
          "with drafts %s, a client that opens with the draft is treated like one with an unknown version",
          "and so it is for every request of 2026-07-28, broken in every way (fast entry: %s)",
        ),
        by(at.draftClient, optIn, notIn),
      ),
    ),
    [
      "The client gives handlers for elicitation and sampling.",
      by(
        at.clientRounds,
        "five questions of five kinds lead to a result, and every step runs once",
        "a server that needs someone says so, and what to give",
      ),
    ],
    [
      "Where one side does not opt in, both fall back to what is standard.",
      by(at.draftClient, optIn, notIn),
    ],
    ours(
      "a client that negotiates nothing newer is served as it was.",
      by(at.csharp, "a client that negotiates nothing newer keeps what it has"),
    ),
  ),
  ...under(
    "High-level API",
    ["A handler elicits and samples as if these were plain async calls.", by(at.csharp, affinity)],
    [
      "Its library drives the rounds; the handler sees none of them.",
      by(
        at.carriers,
        "a tool asks a form, a choice, a yes, the model and the roots, each after a step that runs once",
      ),
    ],
    [
      "A confirmation that is accepted, or not.",
      by(at.csharp, "is told apart what the person did: %s"),
    ],
    ["For the client it is one call.", by(at.csharp, "is told apart what the person did: %s")],
    [
      "It needs session affinity: the handler stays in memory between rounds.",
      superseded("it is replayed, and needs none (F28)"),
    ],
    ours("it needs none.", by(at.csharp, affinity)),
  ),
  ...under(
    "Low-level API",
    [
      "A handler has questions and state in its own hands, and nothing in memory.",
      by(at.csharp, byHand),
    ],
    [
      "It first asks whether the client supports rounds, and has a fallback.",
      by(at.csharp, can, "and where it cannot, the handler has words of its own, with advice"),
    ],
    [
      "It throws an exception that carries the result that asks.",
      superseded("it returns `inputRequired(…)` (F27)"),
    ],
    ["Questions, state or both.", by(at.csharp, byHand, deferral)],
    ["On the retry it reads state and answers, and returns.", by(at.csharp, byHand)],
    [
      "The state is a word in plain text.",
      superseded("any JSON, sealed; there is no plain mode (F32)"),
    ],
    ours(
      "it is sealed all the same.",
      by(at.csharp, "its state is sealed: a client can neither read it nor make one up"),
    ),
    ["Answers are by the keys of the questions.", by(at.csharp, byHand)],
    [
      "There are makers for each kind of request.",
      by(at.csharp, "reads each kind of answer with the accessors of the SDK"),
    ],
    [
      "There are typed accessors for elicitation, sampling and roots.",
      by(at.csharp, "reads each kind of answer with the accessors of the SDK"),
    ],
    ours(
      "an answer without its question does not reach it.",
      and(
        by(at.csharp, "has no answer but to what it has asked, and each once"),
        by(at.answers, "does not reach a handler that drives its own rounds"),
      ),
    ),
  ),
  ...under(
    "State alone",
    ["A server can return state without questions, to defer its work.", by(at.csharp, deferral)],
    [
      "It sheds load, or breaks long work into several requests.",
      and(
        by(at.csharp, deferral),
        by(at.tools, "deferred work goes on in another round, with no question"),
      ),
    ],
    [
      "The client calls again by itself, with nothing to resolve.",
      by(at.csharp, "is sent again by a client by itself: ours, and the official one"),
    ],
    ours(
      "nothing that was done is done again.",
      by(at.mishaps, "of a state-only round repeats nothing that was in its token"),
    ),
  ),
  ...under(
    "Several rounds",
    ["A tool asks again and again over its retries.", by(at.csharp, "%s keeps it")],
    [
      "The wizard asks for a name, then for an age, and welcomes.",
      by(at.tools, "the wizard still knows the name when it has the age"),
    ],
    ours(
      "as it is printed, its last step looks for an answer that the client no longer sends.",
      by(
        at.csharp,
        "as it is printed loses the name: a client sends the answers of the last round alone",
      ),
    ),
    ours(
      "all answers are kept.",
      by(at.csharp, "keeps it though the last request has the age alone"),
    ),
    [
      "A tool can give advice to who has no such client.",
      by(at.csharp, "and where it cannot, the handler has words of its own, with advice"),
    ],
  ),
  ...under(
    "Compatibility",
    ["New server, new client: rounds.", by(at.csharp, "a new server and a new client: rounds")],
    ["New server, old client: requests of the server's.", by(at.csharp, oldClient)],
    [
      "Old server, new client: the stable version, and no rounds.",
      by(
        at.csharp,
        "an old server and a new client: what was negotiated is spoken, and there are no rounds",
      ),
    ],
    [
      "Old server, old client: as ever.",
      by(at.csharp, "an old server and an old client: none of this is in the way"),
    ],
    ours(
      "the same four, with the draft in the place of the final version.",
      by(at.draftClient, optIn, notIn),
    ),
    ["The high-level form falls back without any change of code.", by(at.csharp, oldClient)],
    [
      "The low-level form says that there are no rounds, and the tool has its own words.",
      superseded("it can be asked in a session, by the shim, so `ctx.can` is true there (F29)"),
    ],
    ours(
      "without a session it cannot, and a handler that looks first does without.",
      by(at.legacy, "a handler that looks first can do without"),
    ),
    [
      "A low-level tool works with clients that know no rounds: each question is put by a request, and the handler called again.",
      by(at.csharp, bothClients),
    ],
    ["One implementation works with any client.", by(at.csharp, bothClients)],
    ["With rounds the result that asks goes over the wire.", by(at.csharp, bothClients)],
    ["Without them the client never sees it.", by(at.csharp, bothClients)],
    [
      "That loop resolves at most ten rounds.",
      superseded("it has the server's limit, fifty rounds unless `limits.rounds` says else (F30)"),
    ],
    ours(
      "what takes more ends in words.",
      and(
        by(
          at.csharp,
          "is the server's for one that is asked by requests, and the call ends in words",
        ),
        by(
          at.carriers,
          "as many questions as the official side allows, one after the other",
          "one more is refused in words, not by silence",
        ),
      ),
    ),
    ours(
      "a client's own loop has a limit as well, which is ten.",
      by(at.csharp, "is ten for a client that is asked on and on, and can be raised"),
    ),
    ours(
      "and so has the server.",
      by(at.csharp, "is the server's own as well: a token is good for so many"),
    ),
    [
      "Tools that need more rounds use the high-level form.",
      superseded("both forms go through the same loop, and have the same limit (F30)"),
    ],
  ),
  ...under(
    "Deferred task creation",
    [
      "It needs rounds and tasks.",
      by(at.serverTasks, "without a store a tool that needs one says so"),
    ],
    ["A tool can ask before it decides whether to start a task.", by(at.csharp, made)],
    [
      "The tool is marked: `DeferTaskCreation`.",
      superseded("no mark: `task` in its config, and the handler decides at `background()` (F35)"),
    ],
    [
      "An attribute on a method says the same.",
      superseded("there are no attributes here, only the config (F35)"),
    ],
    ["The client sends task metadata with its call.", by(at.draft, wished)],
    ours(
      "in the final form it declares the extension, and metadata mean nothing.",
      by(at.tasks, "a wish for one changes nothing for a client that follows them"),
    ),
    ["With metadata the tool runs in rounds, and no task is made at once.", by(at.draft, wished)],
    ["Before the task, questions are rounds.", by(at.csharp, made)],
    ["The tool makes the task when it is ready.", by(at.csharp, made)],
    ["After that, questions are the task's own.", by(at.csharp, oneWay)],
    [
      "They are answered by `tasks/input_response`.",
      by(at.draft, "001: the echo tool's task, as printed"),
    ],
    ours("in the final form by `tasks/update`.", by(at.csharp, oneWay)),
    [
      "A tool that returns before gives a plain result.",
      and(
        by(at.draft, "004: with the wish and no task made, the result is a plain one"),
        by(at.csharp, "is not made where the handler returns before: the result is a plain one"),
      ),
    ],
    [
      "The VM: confirmed, then made in the background.",
      and(
        by(at.draft, wished),
        by(at.csharp, made),
        by(at.tools, "a VM is confirmed in a round, and made and asked about in the task"),
      ),
    ],
    [
      "Its refusal is told by any action but `confirm`.",
      superseded("there is no such action: accept, decline, cancel (F34)"),
    ],
    ours(
      "`confirm` is no answer.",
      by(at.csharp, "an answer is accepted, declined or cancelled; there is no `confirm`"),
    ),
    ["The client polls for the status of the work.", by(at.clientTask, "a task that asks nothing")],
    [
      "The tool says that tasks are optional.",
      and(
        by(
          at.draftTasks,
          "the server says that it has tasks, and of each tool whether it can be one",
        ),
        by(at.tasks, "a request that declares %s"),
      ),
    ],
    ["One way: no rounds after the task was made.", by(at.csharp, oneWay)],
    [
      "The tool decides at run time whether there is a task.",
      by(at.tasks, "the handler decides: what is quick is answered at once"),
    ],
    [
      "Without metadata there is no task: the tool runs in rounds.",
      and(
        by(
          at.draft,
          "004: without the wish there is no task: the tool runs in rounds, to its end or to a refusal",
        ),
        by(
          at.csharp,
          "is never made for a client that cannot follow one: the same handler goes on in rounds",
        ),
      ),
    ],
  ),
  ...under(
    "Which form to use",
    ["Affinity: high-level required, low-level not.", superseded("required by neither (F28)")],
    ours("neither needs it.", by(at.csharp, affinity, deferral)),
    [
      "State: kept for the high-level form, by hand in the low-level one.",
      by(at.csharp, affinity, byHand),
    ],
    [
      "The high-level form is simple awaits.",
      by(at.tools, "the wizard still knows the name when it has the age"),
    ],
    ["Stateless servers: only the low-level form.", superseded("both (F28)")],
    [
      "Fallback: by itself in the high-level form, by a look in the low-level one.",
      by(at.csharp, oldClient, can),
    ],
    [
      "The high-level form asks one thing at a time.",
      superseded("as many as are awaited together (F37)"),
    ],
    [
      "Several kinds in one round, in either form.",
      by(
        at.csharp,
        "asks several at once where they are awaited together, of several kinds",
        "reads each kind of answer with the accessors of the SDK",
      ),
    ],
  ),
];
