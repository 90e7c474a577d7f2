// The statements of document 002, the mcpkit tutorial.

import { and, at, by, chosen, ours, superseded, under } from "./row.ts";
import type { Row } from "./row.ts";

const anotherInstance = "may go to another instance that shares only the keys";
const carried =
  "a tool asks a form, a choice, a confirmation, the model and the roots, each after a step that runs once";
const connected =
  "%s: three rounds, a task, a handover, a takeover and a question of the task are one trace";
const phases =
  "a round asks and creates no task, the next creates it, and the task works and asks its own question";
const apart =
  "keys of rounds and of a task never mix: an answer that is sent the other way does not count";
const silent =
  "progress and log messages are silent, unlike before it; the status message and the result replace them";
const covers = "a client that declares only %s is asked for nothing else";
const greeting = "a question and its answer lead to the greeting";
const replayed =
  "a lost response repeats only the steps of its round, under the same idempotency key";
const override = "a request may declare other capabilities than its session, for itself alone";
const threeErrors = "are distinguished in the log, and look alike on the wire";

export const tutorial: readonly Row[] = [
  ...under(
    "MRTR Tutorial",
    [
      "Tools collect input on the legacy wire and on the stateless wire.",
      by(at.eras, "tools, prompts and resources ask and complete"),
    ],
    [
      "It reflects SEP-2322, SEP-2575 and SEP-2663, with a conformance suite.",
      by("test/conformance/conformance.test.ts", "%s: %s, in %i checks", "%s, in %i checks"),
    ],
  ),
  ...under(
    "1. The core idea",
    [
      "A tool that needs something from the client returns a result that says what, and is called again with the answer.",
      by(at.final, greeting),
    ],
    [
      "The handler returns in every round: nothing waits on the server.",
      by(at.mishaps, "a client that never returns has left nothing behind"),
    ],
    [
      "The server returns a token, and restores its context from it in the next round.",
      by(at.round, "carries the call to any instance that has the key"),
    ],
    [
      "The same handler runs again with all answers so far, and asks again or returns.",
      by(
        at.mcpkit,
        "the last round has the answers of earlier rounds, even if the client sends only the newest",
      ),
    ],
    [
      "It works the same with sessions and on a server that is another process in every round.",
      and(
        by(at.rounds, anotherInstance),
        by(
          at.csharp,
          "a new server asks an old client by a request, and nothing in the tool changes",
        ),
      ),
    ],
    [
      "Like an effect: the handler awaits, the client handles, control comes back.",
      by(
        at.carriers,
        "a tool asks a form, a choice, a confirmation, the model and the roots, each after a step that runs once",
      ),
    ],
    [
      "Unlike a generator it replays from the top; what was recorded is not done again.",
      by(at.mishaps, replayed),
    ],
    [
      "Like OAuth's state: an opaque token, validated when it comes back.",
      by(at.token, "a token with $name gets the same error as any other, and nothing runs"),
    ],
    [
      "The token is signed with HMAC-SHA256.",
      chosen(
        "it is encrypted and authenticated with AES-256-GCM, because a client should not read what the server keeps there (F8)",
      ),
    ],
    [
      "The token is the continuation: it says where to continue.",
      by(at.csharp, "%s asks nothing, and continues from its token on another instance"),
    ],
  ),
  ...under(
    "2. The wire shape",
    ["The result that asks, with a form.", by(at.final, greeting)],
    [
      "The client fulfils it: it asks the user, samples the model, or lists its roots.",
      by(
        at.clientRounds,
        "five questions of five kinds lead to a result, and every step runs once",
      ),
    ],
    ["It calls the same tool again, with the answers under the same keys.", by(at.final, greeting)],
    [
      "One round can carry several requests, all resolved at once.",
      by(at.mcpkit, "answers to several questions are all in one round"),
    ],
    [
      "A handler can take several rounds, each with a fresh token.",
      by(
        at.mcpkit,
        "the last round has the answers of earlier rounds, even if the client sends only the newest",
      ),
    ],
    [
      "Earlier answers travel in the token, so the last round has all of them.",
      by(
        at.mcpkit,
        "the last round has the answers of earlier rounds, even if the client sends only the newest",
      ),
    ],
    [
      "The server chooses the keys, and the client must neither parse nor interpret them.",
      by(
        at.mcpkit,
        "are chosen by the server, and the client sends them back unchanged, whatever they are",
      ),
    ],
    [
      "The server may pick readable ones.",
      by(at.rounds, "carries each kind as the bare request of the specification, with flat forms"),
    ],
    [
      "The token may be signed, or plain text.",
      chosen(
        "it is always sealed, because an author could not know when plain text does no harm (F8, F32)",
      ),
    ],
    [
      "It holds the tool, the answers so far and when it expires.",
      and(
        by("src/token/open.test.ts", "come back with these members and no others"),
        by(at.csharp, "the wizard keeps the name even if the last request has only the age"),
      ),
    ],
    ["Malformed tokens are rejected.", by(at.mcpkit, threeErrors)],
    [
      "So are those with a wrong signature, and those of another tool.",
      and(
        by(at.mcpkit, threeErrors),
        by(at.token, "a token with $name gets the same error as any other, and nothing runs"),
      ),
    ],
    [
      "And those that have expired.",
      and(
        by(at.mcpkit, threeErrors),
        by(at.token, "a token is refused after its eleven minutes, and not before"),
      ),
    ],
    [
      "In production, a key should always be set.",
      by(at.stdio, "are not generated in production: the server does not start, and says why"),
    ],
  ),
  ...under(
    "3. What server-to-client methods does MRTR cover?",
    ["A request's method is one of those the client offered.", by(at.mcpkit, covers)],
    [
      "`elicitation/create`: a prompt for the user, with the capability `elicitation`.",
      and(by(at.mcpkit, covers), by(at.rounds, "`elicitation: {}` declares support for forms")),
    ],
    [
      "`sampling/createMessage`: a completion from the client's model, with `sampling`.",
      and(
        by(at.mcpkit, covers),
        by(at.final, "a form and a completion are asked in one round, and answered in one"),
      ),
    ],
    ["`roots/list`: the client's workspace roots, with `roots`.", by(at.mcpkit, covers)],
    [
      "A server invents no other methods.",
      and(
        by(
          at.rounds,
          "carries each kind as the bare request of the specification, with flat forms",
        ),
        by(at.clientHostile, "is not accepted as a response to a call: %s"),
      ),
    ],
    [
      "A root is a URI with an optional name.",
      by(at.taskInput, "an answer of every kind reaches the handler as it would in a round"),
    ],
    [
      "A root may be `https://` or of another scheme.",
      superseded("only `file://`, and roots are deprecated (F46)"),
    ],
    ours("roots that are not files are refused.", by(at.clientForm, "roots must be file URLs")),
    [
      "Several roots may be open.",
      by(at.tools, "the client supplies its roots, and the user types nothing"),
    ],
    [
      "A server scopes its work by them, without asking the user or taking arguments.",
      by(at.tools, "the client supplies its roots, and the user types nothing"),
    ],
    [
      "Clients return roots without asking the user.",
      by(
        at.clientRounds,
        "five questions of five kinds lead to a result, and every step runs once",
      ),
    ],
    [
      "Roots are structured data of the host, and are valid for the session.",
      superseded(
        "they are structured, but they are requested in each call, because nothing lasts beyond a request (S6)",
      ),
    ],
    [
      "A handler asks for them in the same way as for anything else.",
      by(at.tools, "the client supplies its roots, and the user types nothing"),
    ],
  ),
  ...under(
    "4. Where the client publishes its capability menu",
    [
      "A server asks only what the client has declared.",
      by(at.rounds, "gets -32021 and HTTP 400 for %s %j with %j, naming what is missing"),
    ],
    [
      "Legacy: the session's `initialize` says what can be asked.",
      by(at.mcpkit, "are those of the session in 2025-11-25, for all its calls"),
    ],
    [
      "Legacy: a request may override it in its `_meta`.",
      superseded(
        "2025-11-25 has no such key; a request with an envelope is a 2026-07-28 request (F43)",
      ),
    ],
    ours(
      "in a session of the draft a request may do so, for itself only.",
      by(at.draftRounds, override),
    ),
    [
      "Stateless: every request says what can be asked, and nothing is cached.",
      by(
        at.mcpkit,
        "are in every request of 2026-07-28, and nothing is remembered of the previous one",
      ),
    ],
    [
      "Stateless: the envelope with version, client info and capabilities is required on every request.",
      and(
        by(at.final, "the envelope that it requires is accepted unchanged"),
        by(at.envelope, "a request without %s is -32602 and 400"),
      ),
    ],
    ["Client info is part of what is required.", superseded("it is optional (F44)")],
    ours(
      "without client info a request is served.",
      by(at.rounds, "is served without clientInfo, and with any name of the client"),
    ),
    [
      "A request without capabilities comes from a client that supports nothing.",
      superseded("it is malformed: -32602, HTTP 400 (F43)"),
    ],
    ours(
      "without the envelope it is -32602.",
      by(at.mcpkit, "missing capabilities are an error, not a client without capabilities"),
    ),
    [
      "The server cannot fall back to a session.",
      by(
        at.rounds,
        "a client that loses a capability in a later round is not asked, because each request speaks for itself",
      ),
    ],
    [
      "The declarations of the session and of the request are merged.",
      by(at.draftRounds, override),
    ],
    [
      "One helper says yes or no on either wire.",
      by(at.csharp, "is what ctx.can says, from the client's declaration, in either era"),
    ],
    [
      "It also covers the tasks extension.",
      by(
        at.tasks,
        "a request that declares %s (%j) gets a %s result",
        "a declaration that is %j does not count",
      ),
    ],
    ["It also covers elicitation, sampling and roots.", by(at.mcpkit, covers)],
  ),
  ...under(
    "5. progressToken",
    [
      "The client creates the progress token, and uses it to find the request that progress belongs to.",
      by(at.mcpkit, "is sent under the token that the client made: %j"),
    ],
    ["It is any scalar, even null.", superseded("it is a string or an integer (F45)")],
    ours(
      "anything else is refused.",
      by(at.mcpkit, "a token of %j is refused, because a token is a string or an integer"),
    ),
    [
      "It is sent in `_meta.progressToken`, and returned in `notifications/progress` with progress, total and message.",
      by(at.final, "progress comes under the token of the request"),
    ],
    [
      "The server never makes one up.",
      by(at.mcpkit, "is not sent if there is no token, and no token is made up"),
    ],
    [
      "A client library sends it if the caller wants progress.",
      by(at.mcpkit, "is requested by our client, which makes the token, and arrives as an event"),
    ],
    [
      "The server passes it to the handler's context.",
      by(at.mcpkit, "has its token in the handler's view of the request"),
    ],
    [
      "The handler emits progress under the same token.",
      by(at.notifications, "names the token of its request, a number or a string"),
    ],
    [
      "Without a token, emitting does nothing.",
      by(
        at.notifications,
        "is not sent to a client that did not ask for it, whose response is plain JSON",
      ),
    ],
    [
      "An application may fall back to the task's id.",
      superseded("a token is never made up (F45)"),
    ],
  ),
  ...under(
    "6. What notifications/progress and notifications/message were for",
    [
      "Progress is sent for a request whose client wants it.",
      by(at.notifications, "is sent at once, strictly increasing, and not again during a replay"),
    ],
    [
      "Log messages are sent from the level that the client sets.",
      by(
        at.notifications,
        "is sent from the level that the request set, once, and not again during a replay",
      ),
    ],
    [
      "The level is set by `logging/setLevel`.",
      superseded(
        "it is set for each request, in its `_meta`; the method belongs to 2025-11-25 (S71)",
      ),
    ],
    [
      "A task's channel carries `notifications/tasks`, and neither progress nor messages.",
      and(
        by(at.tasks, "is reported only by its status message, and nothing is sent elsewhere"),
        by(
          at.taskListen,
          "each message is what tasks/get would return then, even for a cancelled task (%s)",
        ),
      ),
    ],
    [
      "A task is watched by `tasks/get` or `notifications/tasks`.",
      by(
        at.taskListen,
        "a subscription is acknowledged first, sends each task's state, then every change, then ends",
      ),
    ],
    [
      "A server without a lasting channel can still have tasks.",
      by(at.extTasks, "$name completes"),
    ],
    [
      "Nothing that is delivered on one wire is silently lost on the other.",
      by(
        at.mcpkit,
        silent,
        "progress and log messages are silent in a session of 2025-11-25 as well, which would have a channel",
      ),
    ],
    ["In a task, status and status message replace progress.", by(at.mcpkit, silent)],
    ["In a task, the result replaces messages.", by(at.mcpkit, silent)],
    [
      "Operators have real logging and OpenTelemetry.",
      and(
        by(at.mcpkit, silent),
        by(
          at.telemetry,
          "each round has a span, and later spans are linked to the first through the sealed state",
          "the metrics count rounds by outcome, and measure rounds and steps in seconds",
        ),
      ),
    ],
    [
      "Before the task, and in a plain call, both are still sent.",
      and(
        by(at.mcpkit, silent),
        by(
          at.notifications,
          "is sent at once, strictly increasing, and not again during a replay",
          "is sent from the level that the request set, once, and not again during a replay",
        ),
      ),
    ],
    [
      "A handler that emits does not break inside a task: it is silent there.",
      by(at.mcpkit, silent),
    ],
    [
      "Only the task is silent; a call that returns at once emits.",
      and(
        by(at.mcpkit, silent),
        by(at.stdio, "progress comes before the result of its request"),
        by(
          at.notifications,
          "is sent from the level that the request set, once, and not again during a replay",
        ),
      ),
    ],
  ),
  ...under("6. What notifications/progress and notifications/message were for, enforcement", [
    "The handler of a tool that may become a task is responsible for what it emits before that.",
    by(at.mcpkit, silent),
  ]),
  ...under(
    "7. When to use what",
    [
      "Rounds work on both wires, one HTTP request each.",
      by(at.eras, "tools, prompts and resources ask and complete"),
    ],
    [
      "Only the legacy wire has pushed requests.",
      and(
        by(
          at.legacy,
          "the server asks by a request on the stream of the call, and gets the answer in a response",
        ),
        by(at.notifications, "carries no request of the server"),
      ),
    ],
    [
      "Pushing on the stateless wire is a separate error.",
      by(
        "test/hosts/adopt.test.ts",
        "a tool that is not named is not changed, and cannot ask a 2026-07-28 client",
      ),
    ],
    ours(
      "`ctx.ask` is a round there, so a tool of the app never meets that error.",
      by(at.carriers, carried),
    ),
    [
      "A server may push at any time, outside a call.",
      superseded("a request from the server belongs to one from the client (SEP-2260, S13)"),
    ],
    [
      "In a task, its own input flow: `input_required`, seen by `tasks/get`, answered by `tasks/update`.",
      by(
        at.taskInput,
        "is applied when it is acknowledged, so that the next tasks/get no longer asks",
      ),
    ],
    [
      "The choice depends on the place: in a call, in a task, or neither.",
      by(at.taskPhases, "over HTTP, each phase has its own messages, and each body runs once"),
    ],
    ["New code that wants both wires uses rounds.", by(at.carriers, carried)],
    [
      "Later, the pushing calls become aliases for rounds.",
      by("test/hosts/adopt.test.ts", "works in rounds over %s"),
    ],
    [
      "A tool may later require clients that support rounds.",
      by("test/wire/unable.test.ts", "is refused before anything runs if the tool requires it"),
    ],
    [
      "In the end, pushing is dead code; notifications stay.",
      by(
        at.taskListen,
        "both are sent; the subscription stays open when the tasks are over, and ends with the server",
      ),
    ],
  ),
  ...under(
    "8. Two mechanisms, two phases",
    ["First rounds, then perhaps a task, then its result.", by(at.mcpkit, phases)],
    [
      "Rounds: the handler returns, and nothing waits on the server.",
      and(
        by(at.mishaps, "a client that never returns has left nothing behind"),
        by(at.taskPhases, "an abandoned first round has left nothing in the store"),
      ),
    ],
    [
      "Task: a blocking call waits for the answer in the process.",
      chosen(
        "it is parked in the store, and any worker continues from its log, because people take longer to answer than processes live (F40)",
      ),
    ],
    [
      "Rounds answer by calling the tool again, tasks by `tasks/update`.",
      by(at.extTasks, "answers to a task go by tasks/update, and answers in a round by a retry"),
    ],
    [
      "The client learns of a task's question from `tasks/get` and from `notifications/tasks`.",
      by(
        at.taskListen,
        "a subscription is acknowledged first, sends each task's state, then every change, then ends",
      ),
    ],
    [
      "Only the token is kept between rounds.",
      by(at.taskPhases, "an abandoned first round has left nothing in the store"),
    ],
    [
      "A task's state lives in the memory of one process, and dies with it.",
      chosen(
        "it lives in the store and survives its process, because a deployment must not end the tasks under way (F40)",
      ),
    ],
    ours(
      "a task continues after its process was killed.",
      by(
        "test/cli/demo.test.ts",
        "without a terminal a script answers, the story holds, and nothing is left behind",
      ),
    ),
    ["Rounds can continue on any replica.", by(at.rounds, anotherInstance)],
    [
      "Several questions in one round; concurrent ones in a task.",
      and(
        by(at.mcpkit, "answers to several questions are all in one round"),
        by(at.engine, "asks in parallel and takes the answers one by one"),
      ),
    ],
    [
      "`tasks/update` may bring some of the answers, in any order.",
      and(
        by(
          at.taskInput,
          "is applied when it is acknowledged, so that the next tasks/get no longer asks",
        ),
        by(at.engine, "asks in parallel and takes the answers one by one"),
      ),
    ],
    ["Keys belong to the round, or to the task.", by(at.mcpkit, apart)],
    [
      "A client cancels rounds by not retrying.",
      by(at.mishaps, "a client that never returns has left nothing behind"),
    ],
    [
      "A task is cancelled by `tasks/cancel`, which interrupts what the handler waits for.",
      and(
        by(at.mcpkit, "a call that is cancelled in its task stops waiting"),
        by(at.tasks, "stops the running body, and its result is not reported"),
      ),
    ],
    [
      "The handler of a cancelled task unwinds.",
      chosen(
        "its steps are undone instead, by the undos that they name, because a handler that waits is parked in the store and has no stack to unwind (F40)",
      ),
    ],
    ours(
      "what the steps of a cancelled task made is undone, and no `catch` or `finally` of a waiting handler runs.",
      and(
        by(
          at.undoing,
          "a client that cancels the task while it asks has what the task made deleted",
        ),
        by(
          "src/tasks/undo.test.ts",
          "that is cancelled while it waits is undone (U3)",
          "that is cancelled while a body runs: the body is aborted and awaited, and what it made is undone (U3)",
        ),
        by(
          "src/replay/rules.test.ts",
          "suspending does not run any catch or finally of the handler",
        ),
      ),
    ),
    [
      "Rounds are for questions that are known in advance, tasks for those that come up during the work.",
      by(at.mcpkit, phases),
    ],
    ["The author writes the same in both: ask, and use the answer.", by(at.mcpkit, phases)],
    [
      "Once a task is created, there can be no more rounds.",
      by(at.csharp, "is one-way: later questions are asked by the task, never again by a round"),
    ],
    [
      "Without a task its input flow cannot be used.",
      and(
        by(
          at.csharp,
          "is never created for a client that does not support tasks, and the same handler continues in rounds",
        ),
        by(
          at.taskPhases,
          "a client that never declares tasks is refused work that it cannot wait for",
        ),
        by(
          at.relayedTasks,
          "a model that sees only texts brings one handler with every kind of question to its end",
        ),
      ),
    ],
    [
      "The token of the rounds does not flow into the task.",
      by(
        at.mcpkit,
        "the token of the rounds does not go into the task, and nothing in a task has one",
      ),
    ],
    ["A task has a `requestState` of its own.", superseded("tasks have none (F50)")],
    ["The keys of both never collide.", by(at.mcpkit, apart)],
    ours(
      "a key that is used in both is reported as a mistake, and does not collide.",
      by(at.taskPhases, "a key is used once in a call, in either phase"),
    ),
    [
      "Clients need not tell the two apart by key: the wire does.",
      and(by(at.mcpkit, apart), by(at.withTasks, "one call can ask before the task and in it")),
    ],
    [
      "One tool can use all of it without its states colliding.",
      by(
        at.taskReplicas,
        "passes through all its phases, each request on another replica, each body once",
      ),
    ],
  ),
  ...under(
    "9. Writing handlers",
    [
      "A handler can branch on what has been answered.",
      by(at.round, "has all answers so far, even if a client sends only the last ones"),
    ],
    ["One round: ask, and greet.", by(at.tools, "a greeting takes one round")],
    [
      "The client learns of an answer that cannot be read.",
      by(at.answers, "is asked for again with the reason (%s): %j"),
    ],
    [
      "The conformance suite has seven canonical patterns.",
      by("test/conformance/conformance.test.ts", "%s: %s, in %i checks"),
    ],
    [
      "Several rounds: the last one has all answers.",
      by(at.tools, "the multi-round tool has all answers in its last round"),
    ],
    [
      "Earlier answers are merged from the token before the handler is called.",
      by(
        at.mcpkit,
        "the last round has the answers of earlier rounds, even if the client sends only the newest",
      ),
    ],
    [
      "A wrong key is not an error: the question is asked again.",
      by(
        at.mcpkit,
        "a wrong key is tolerated: the question is asked again, and it is not an error",
      ),
    ],
  ),
  ...under(
    "10. Composing MRTR with tasks",
    [
      "One tool asks first, then works in the background.",
      and(
        by(at.mcpkit, phases),
        by(at.tools, "one handler has three phases: a round, a task, and a question in the task"),
      ),
    ],
    ["Phase 1: there is no answer yet, and no task is created.", by(at.mcpkit, phases)],
    ["Phase 2: with the answer, the task is created.", by(at.mcpkit, phases)],
    ["Phase 3: the work, which can ask and report its status.", by(at.mcpkit, phases, silent)],
    ["The client gets the result with `tasks/get`.", by(at.mcpkit, phases)],
    [
      "Each flow has its own state and keys.",
      by(
        at.mcpkit,
        apart,
        "the token of the rounds does not go into the task, and nothing in a task has one",
      ),
    ],
    [
      "A conformance scenario asserts that.",
      by("test/conformance/conformance.test.ts", "%s, in %i checks"),
    ],
    [
      "The handler runs first; whether it asks, returns or goes to the background decides.",
      and(
        by(at.mcpkit, phases),
        by(at.tasks, "the handler decides, and quick work gets its result at once"),
      ),
    ],
  ),
  ...under(
    "11. Quick reference",
    [
      "The handler's shape.",
      by(at.tools, "one handler has three phases: a round, a task, and a question in the task"),
    ],
    [
      "A signing key that lasts for a day.",
      chosen(
        "eleven minutes by default, because a token that was stolen should soon be worthless; longer if a question has a longer time limit, or with `limits.tokenTtlMs` (F42)",
      ),
    ],
    ours(
      "the lifetime of a token depends on its questions.",
      by(at.round, "a token lives at least as long as its questions"),
    ),
    [
      "Tasks are registered if a tool may become one.",
      by(at.tasks, "no request gets a task without a store, and the extension is not declared"),
    ],
    ["The client's two requests.", by(at.final, "both rounds of its reference work")],
    ["-32602 without the envelope.", by(at.mcpkit, "each expected error has its code")],
    [
      "If a token is malformed, changed or expired, the client starts again with round 1.",
      by(at.mcpkit, "are not final, because the call can begin again from its first round"),
    ],
    [
      "-32021 if a capability is needed that was not declared; declare it.",
      and(
        by(at.mcpkit, "each expected error has its code"),
        by(at.tasks, "errors of the extension are errors, and name what is needed"),
      ),
    ],
  ),
  ...under(
    "Tracing across MRTR rounds",
    [
      "The client sends the first round's traceparent with later rounds, under its own key.",
      chosen(
        "the sealed state holds the first round's span, because the key's prefix belongs to the protocol, which does not define it; each round names its own span in `traceparent`, which it does (F49)",
      ),
    ],
    [
      "A client with a tracer connects the rounds of a call by itself.",
      by("test/client/one-trace.test.ts", connected),
    ],
    [
      "The server reads it, and links the later rounds' spans.",
      by(
        at.links,
        "later rounds are linked to the first: to ours by the sealed state, to the client's by mcpkit's key",
      ),
    ],
    [
      "A star: all link to the first, none to the one before.",
      and(
        by(
          at.links,
          "later rounds are linked to the first: to ours by the sealed state, to the client's by mcpkit's key",
        ),
        by(
          at.telemetry,
          "each round has a span, and later spans are linked to the first through the sealed state",
        ),
      ),
    ],
    ours("an invalid link does no harm.", by(at.links, "an invalid link is skipped: %j")),
    [
      "A trace viewer can show the rounds together.",
      by("test/client/one-trace.test.ts", connected),
    ],
  ),
];
