// What 2026-07-28 and its tasks extension require of a server (S: the wire, A: shapes on it, D: security), and what was
// decided where they are silent (G), in our words, each with the test that shows it. client.ts has those of a client.

export type Requirement = { readonly id: string; readonly says: string } & (
  | {
      /** The title of the test, without its tags. The title in the test file has the id in brackets. */
      readonly test: string;
      /** The part that is not met yet. */
      readonly open?: string;
    }
  /** Why no test shows it: what it waits for, or why it does not concern this library. */
  | { readonly later: string }
  | { readonly notOurs: string }
);

export const requirements: readonly Requirement[] = [
  // ---------------------------------------------------------------- envelope, results, errors
  {
    id: "S1",
    says: "A response has the id of its request, with the same type.",
    test: "the id comes back with its type: a string as a string, a number as a number",
  },
  {
    id: "S2",
    says: "Every result has a resultType.",
    test: "has resultType, inputRequests, requestState and the server's name, and nothing else",
  },
  {
    id: "S3",
    says: "A resultType is complete, input_required, or one of an extension that the request declared.",
    test: "declares streaming, and tasks only if there is a store",
  },
  {
    id: "S4",
    says: "A request without a version or capabilities in its envelope gets -32602, HTTP 400.",
    test: "a request without %s is -32602 and 400",
  },
  {
    id: "S5",
    says: "clientInfo may be absent.",
    test: "is served without clientInfo, and with any name of the client",
  },
  {
    id: "S6",
    says: "Version, capabilities and identity come from the request itself, not from an earlier one.",
    test: "what one request declares about its client applies to that request alone",
  },
  {
    id: "S7",
    says: "An unsupported version gets -32022, HTTP 400, with the versions that are supported.",
    test: "an unsupported version is -32022 and 400, and the error names the supported ones",
  },
  {
    id: "S8",
    says: "server/discover returns versions, capabilities and how long they may be cached.",
    test: "discovery returns the server's versions, capabilities and cache lifetime",
  },
  {
    id: "S9",
    says: "Every result names the server in its _meta.",
    test: "has resultType, inputRequests, requestState and the server's name, and nothing else",
  },
  {
    id: "S10",
    says: "Nothing depends on the name that the client gives itself.",
    test: "a client's claims about itself do not decide its identity",
  },
  {
    id: "S11",
    says: "A request that needs an undeclared capability gets -32021, HTTP 400, with what is missing.",
    test: "gets -32021 and HTTP 400 for %s %j with %j, naming what is missing",
  },
  {
    id: "S12",
    says: "An unknown method gets -32601, HTTP 404.",
    test: "%s does not exist in 2026-07-28: -32601 and 404",
  },
  {
    id: "S13",
    says: "The server sends no request to a modern client.",
    test: "carries no request of the server",
  },
  {
    id: "S14",
    says: "The server sends no error codes of older revisions, and no undefined codes of the reserved range.",
    test: "unknown tools and prompts are -32602, unknown methods -32601 and 404",
  },
  {
    id: "S15",
    says: "State that outlives a request is reached only through what a request carries.",
    test: "many simultaneous calls do not mix: each has its own answers and its own keys",
  },
  {
    id: "S16",
    says: "The requests of one call may reach different processes.",
    test: "may go to another instance that shares only the keys",
  },
  {
    id: "S17",
    says: "If the peer lacks an extension, the server falls back to the core protocol or refuses.",
    test: "declares streaming, and tasks only if there is a store",
  },
  {
    id: "S18",
    says: "The Tasks extension is off until it is turned on.",
    test: "declares streaming, and tasks only if there is a store",
  },
  {
    id: "S19",
    says: "Lists do not vary by connection or by what was called.",
    test: "lists are the same before, between and after the rounds of a call",
  },

  // ---------------------------------------------------------------- rounds
  {
    id: "S20",
    says: "Only tools/call, prompts/get and resources/read get input_required.",
    test: "%s asks nothing",
  },
  {
    id: "S21",
    says: "An input_required result has inputRequests, requestState, or both.",
    test: "has only a token if nothing is asked",
  },
  {
    id: "S22",
    says: "Each input request is a bare elicitation, sampling or roots request.",
    test: "carries each kind as the bare request of the specification, with flat forms",
  },
  {
    id: "S23",
    says: "The server chooses the keys, and uses each once.",
    test: "has each key once: a handler that uses one twice gets an error, and nothing is asked",
  },
  {
    id: "S24",
    says: "The server asks only what the capabilities of this request list.",
    test: "a client that loses a capability in a later round is not asked, because each request speaks for itself",
  },
  {
    id: "S25",
    says: "The server uses only the modes of elicitation that the client has; an empty capability means forms.",
    test: "`elicitation: {}` declares support for forms",
  },
  {
    id: "S26",
    says: "Sampling has tools and includeContext only if the client declared them.",
    test: "is not asked for sampling with tools if it declares only sampling",
  },
  {
    id: "S27",
    says: "A received requestState is hostile input.",
    test: "a token that is not a string is refused: %j",
  },
  {
    id: "S28",
    says: "requestState is protected against changes, and refused if the check fails.",
    test: "a token with $name gets the same error as any other, and nothing runs",
  },
  {
    id: "S29",
    says: "A changed requestState is an error: it is neither asked again nor served.",
    test: "a token with $name gets the same error as any other, and nothing runs",
  },
  {
    id: "S30",
    says: "requestState is valid for one caller, one request and a short time.",
    test: "a token is refused after its eleven minutes, and not before",
  },
  {
    id: "S31",
    says: "If requestState may be used only once, the server keeps a record of its use.",
    test: "with once: true a repeated round gets its first response, and a round with other answers gets none",
  },
  {
    id: "S32",
    says: "The server holds nothing open for a client that may not come back.",
    test: "a client that never returns has left nothing behind",
  },
  {
    id: "S33",
    says: "A call may take several rounds.",
    test: "a tool asks a form, a choice, a confirmation, the model and the roots, each after a step that runs once",
  },
  {
    id: "S34",
    says: "Answers are validated, and malformed ones are an error.",
    test: "is asked for again with the reason (%s): %j",
  },
  {
    id: "S35",
    says: "Unknown keys and additional members are ignored.",
    test: "is ignored if it comes with the right one, under another key or in further members",
  },
  {
    id: "S36",
    says: "Missing answers are asked for again.",
    test: "is the only one asked for if another answer came, which is kept",
  },
  {
    id: "S37",
    says: "Decline, cancel and a client that never returns are handled.",
    test: "answering with %s ends the call with a result that says so, and no further body runs",
  },
  {
    id: "S38",
    says: "Any instance can serve a retry from what it carries.",
    test: "may go to another instance that shares only the keys",
  },
  {
    id: "S39",
    says: "input_required has no caching hints; complete reads and lists do.",
    test: "the retry of a resource returns its contents, with caching hints",
  },
  {
    id: "S40",
    says: "Nothing follows an input_required on its stream.",
    test: "ends with the result, is not buffered by proxies, and nothing follows it",
  },
  {
    id: "S41",
    says: "Forms are flat; a page has a message and a valid URL.",
    test: "carries each kind as the bare request of the specification, with flat forms",
  },
  {
    id: "S42",
    says: "In a sampling history, every tool_use is followed by its results only.",
    test: "has no tool_use without its results: the author gets an error, and nothing is asked",
  },
  {
    id: "S43",
    says: "Helpers for sampling and roots are marked as deprecated.",
    later: "ctx.sample and ctx.roots are not marked yet; they work until at least 2027-07-28",
  },
  {
    id: "S44",
    says: "Elicitation that waits in place, kept for old code, is marked as legacy.",
    notOurs: "there is none: ctx.ask suspends and runs again, in both eras",
  },

  // ---------------------------------------------------------------- HTTP
  {
    id: "S50",
    says: "One path takes POST; a notification gets 202 without a body.",
    test: "a notification is accepted with 202 and no body",
  },
  { id: "S51", says: "A foreign Origin gets 403.", test: "a page of another origin (%s) gets 403" },
  {
    id: "S52",
    says: "The standard headers are present and agree with the body; otherwise the request gets 400 and -32020.",
    test: "must all be present: without %s it is -32020",
  },
  {
    id: "S53",
    says: "Mcp-Name of a tasks/* request is the task's id.",
    test: "the Mcp-Name header of %s is the task's id, or the response is -32020",
  },
  {
    id: "S54",
    says: "Header names match in any case and values exactly; surrounding white space is ignored.",
    test: "may be in any case and have space around them",
  },
  {
    id: "S55",
    says: "Mcp-Param headers are present and equal if the body has a value.",
    test: "a mirrored parameter must be in its header with the same value, by the author's own schema",
  },
  {
    id: "S56",
    says: "Closing the stream cancels the request.",
    test: "a client that disconnects aborts ctx.signal and the body's signal, and nothing runs afterwards",
  },
  {
    id: "S57",
    says: "Notifications on a stream belong to its request.",
    test: "names the token of its request, a number or a string",
  },
  {
    id: "S58",
    says: "Streams ask proxies not to buffer them.",
    test: "ends with the result, is not buffered by proxies, and nothing follows it",
  },
  {
    id: "S59",
    says: "GET and DELETE get 405; Mcp-Session-Id and Last-Event-ID have no meaning.",
    test: "GET and DELETE without a session are refused",
  },
  {
    id: "S60",
    says: "A request without a version header is refused.",
    test: "must all be present: without %s it is -32020",
  },
  {
    id: "S61",
    says: "A server that speaks only the newest version names its versions in its error to initialize.",
    notOurs: "both eras are served, so initialize opens a session",
  },

  // ---------------------------------------------------------------- stdio
  {
    id: "S65",
    says: "Each line has one message, and standard output has nothing else.",
    test: "each line is one message, both ways, through all rounds of a call",
    open: "an author's console.log in a handler also goes to standard output",
  },
  {
    id: "S66",
    says: "notifications/cancelled stops a request and suppresses its response.",
    test: "stops the body and the handler, and gets no response",
  },
  {
    id: "S67",
    says: "The server exits when its input ends.",
    test: "the server stops what is under way and exits",
  },

  // ---------------------------------------------------------------- progress and log
  {
    id: "S70",
    says: "Progress names the token of an active request, increases strictly, and ends with the request.",
    test: "is sent at once, strictly increasing, and not again during a replay",
  },
  {
    id: "S71",
    says: "Log messages are sent only if the request set a level, and on its own stream.",
    test: "is silent if the request set no level",
  },
  { id: "S72", says: "An unknown level gets -32602.", test: "an unknown log level is -32602" },

  // ---------------------------------------------------------------- subscriptions
  {
    id: "S73",
    says: "The acknowledgement comes first, and lists only what will be sent.",
    test: "a subscription is acknowledged first, sends each task's state, then every change, then ends",
  },
  {
    id: "S74",
    says: "Every message of a subscription names it.",
    test: "each has its own tasks, its own id and its own end",
  },
  {
    id: "S75",
    says: "Only what was subscribed to is sent.",
    test: "a subscription to tasks alone gets no other changes",
  },
  {
    id: "S76",
    says: "A server that ends a subscription responds to its request, then closes the stream.",
    test: "open streams get a last message when the app closes, and end at once",
  },
  {
    id: "S77",
    says: "A client may have several subscriptions at once.",
    test: "several at once each have their own tasks, ids and ends",
  },

  // ---------------------------------------------------------------- tasks
  {
    id: "S80",
    says: "The extension is declared in discovery, and nothing of the older tasks is.",
    test: "discovery names the extensions, without settings, and nothing older",
  },
  {
    id: "S81",
    says: "Only tools/call may return a task, and only if this request declares the extension.",
    test: "a client that declares tasks only at first gets none, and continues in rounds",
  },
  {
    id: "S82",
    says: "The server decides; quick work may return its result at once.",
    test: "the handler decides, and quick work gets its result at once",
  },
  {
    id: "S83",
    says: "A tool that runs only as a task gets -32021 without the capability.",
    test: "a task-only tool is refused before anything runs",
  },
  {
    id: "S84",
    says: "A tool that may run as a task runs in its request without the capability.",
    test: "the call continues in its request, question by question",
  },
  {
    id: "S85",
    says: "Only that response has resultType task.",
    test: "CreateTaskResult is flat, begins as working, and contains nothing else",
  },
  {
    id: "S86",
    says: "The task is durable and readable before its id is sent.",
    test: "can be read, and is in the store, before its id goes out",
  },
  {
    id: "S87",
    says: "All rounds come before the task, and neither has members of the other.",
    test: "over HTTP, each phase has its own messages, and each body runs once",
  },
  {
    id: "S88",
    says: "tasks/get returns what belongs to the status: all questions, the result or the error.",
    test: "tasks/get of a task that asks has all its questions, as bare requests",
  },
  {
    id: "S89",
    says: "The methods' own results have resultType complete.",
    test: "tasks/update and tasks/cancel are acknowledged, with nothing else",
  },
  {
    id: "S90",
    says: "A result with isError is completed; failed is for protocol errors.",
    test: "tasks/get of a completed task has its result, even if that reports a failure",
  },
  {
    id: "S91",
    says: "A failed task has no result, and a completed one no error.",
    test: "tasks/get of a task that ended in a protocol error has that error",
  },
  {
    id: "S92",
    says: "The result is what the request itself would have received.",
    test: "CreateTaskResult is the same for a tool with an outputSchema, whose result has structured content",
  },
  {
    id: "S93",
    says: "A key is used once in a task.",
    test: "an answer that does not fit the form is accepted, and the question is asked again under a new key",
  },
  {
    id: "S94",
    says: "tasks/update returns an acknowledgement and nothing else.",
    test: "tasks/update and tasks/cancel are acknowledged, with nothing else",
  },
  {
    id: "S95",
    says: "Answers to questions that are not open, or no longer open, are ignored, whatever they contain.",
    test: "an answer that comes before its question, or without one, is acknowledged and does not count",
  },
  {
    id: "S96",
    says: "A client may send some of the answers; the other questions stay open.",
    test: "is applied when it is acknowledged, so that the next tasks/get no longer asks",
  },
  {
    id: "S97",
    says: "tasks/cancel is acknowledged, even if the task is over.",
    test: "tasks/update and tasks/cancel are acknowledged, with nothing else",
  },
  {
    id: "S98",
    says: "An unknown id gets -32602.",
    test: "an id that is %s is unknown: the same -32602 everywhere",
  },
  {
    id: "S99",
    says: "A client that does not declare the extension gets -32021 before anything is looked up.",
    test: "each request speaks for itself, and those that follow a task must declare it, too",
  },
  {
    id: "S100",
    says: "tasks/result and tasks/list do not exist.",
    test: "prompts and resources are never tasks, and nothing else uses the names of the methods",
  },
  {
    id: "S101",
    says: "The older params.task is ignored.",
    test: "a request for a task changes nothing for a client that supports them",
  },
  {
    id: "S102",
    says: "A client that declares only the older capability has declared nothing.",
    test: "a request that declares only what 2025-11-25 had, or asks for a task, gets none",
  },
  {
    id: "S103",
    says: "Under 2025-11-25 the extension has no meaning.",
    test: "a client of the older era gets no task by declaring the extension",
  },
  {
    id: "S104",
    says: "A notification contains the whole task, as tasks/get would return it.",
    test: "each message is what tasks/get would return then, even for a cancelled task (%s)",
  },
  {
    id: "S105",
    says: "A task sends no progress and no log messages.",
    test: "is reported only by its status message, and nothing is sent elsewhere",
  },
  {
    id: "S106",
    says: "ttlMs and pollIntervalMs are whole numbers.",
    test: "has a whole number of milliseconds to live, and to wait between polls",
  },
  {
    id: "S107",
    says: "A task fails or is deleted because of its ttl only when the ttl has passed.",
    test: "fails if its time is up before it is done, and is gone after a while",
  },
  {
    id: "S108",
    says: "A client that polls too fast may be slowed down.",
    notOurs: "a poll is one read by key; rate limits belong to a proxy in front",
  },
  {
    id: "S109",
    says: "A task alternates between working and input_required; an end is final.",
    test: "alternates between working and input_required, then ends and stays ended",
  },
  {
    id: "S110",
    says: "Neither notifications/cancelled nor a lost connection cancels a task.",
    test: "goes on after the request that created it has its response and its client is gone",
  },
  {
    id: "S111",
    says: "The methods that may become tasks are data.",
    notOurs: "each definition says it by itself (`task`), and only tools can",
  },
  {
    id: "S112",
    says: "The names of the extension are reserved for it.",
    test: "prompts and resources are never tasks, and nothing else uses the names of the methods",
  },
  {
    id: "S113",
    says: "Errors say why: the task never existed, or it is over.",
    test: "a completed task is deleted at the end of its time, and its owner gets an error that says so",
  },
  {
    id: "S114",
    says: "tasks/get changes nothing.",
    test: "is not changed by tasks/get, however often it is called",
  },

  // ---------------------------------------------------------------- shapes of tasks
  {
    id: "A10",
    says: "The shape of CreateTaskResult.",
    test: "CreateTaskResult is flat, begins as working, and contains nothing else",
  },
  {
    id: "A11",
    says: "The shape of DetailedTask in each status.",
    test: "tasks/get of a cancelled task has only the base",
  },
  {
    id: "A12",
    says: "The shape of the acknowledgements.",
    test: "tasks/update and tasks/cancel are acknowledged, with nothing else",
  },
  {
    id: "A13",
    says: "The shape of subscriptions and of notifications/tasks.",
    test: "a subscription is acknowledged first, sends each task's state, then every change, then ends",
  },
  {
    id: "A14",
    says: "What belongs to a request ends with it, but neither way of cancelling a request cancels a task.",
    test: "over stdio, cancelling a request that returned a task cancels nothing",
  },
  {
    id: "A15",
    says: "The shape of the error that names the extension.",
    test: "errors of the extension are errors, and name what is needed",
  },

  // ---------------------------------------------------------------- security
  {
    id: "D1",
    says: "requestState is verified before it is used for anything.",
    test: "a token is refused by a server with another name, or with other keys",
  },
  {
    id: "D2",
    says: "requestState is bound to the caller, the request and a few minutes.",
    test: "a token is not valid for another principal, even if both use the same application",
  },
  {
    id: "D3",
    says: "What may happen only once has a record of its use.",
    test: "with once: true a repeated round gets its first response, and a round with other answers gets none",
  },
  {
    id: "D4",
    says: "requestState is encrypted, so the client cannot read it.",
    test: "does not let a client read the contents of its token",
  },
  {
    id: "D5",
    says: "All refusals of requestState look alike from outside.",
    test: "a token with $name gets the same error as any other, and nothing runs",
  },
  {
    id: "D6",
    says: "Keys can be rotated, have 256 bits, and are created automatically in development only.",
    test: "opens under an older key of the ring, and seals under the newest",
  },
  {
    id: "D7",
    says: "Task ids cannot be guessed or listed.",
    test: "has an id of 128 random bits that is safe in a header",
  },
  {
    id: "D8",
    says: "Every request for a task, and every subscription, is checked against its owner.",
    test: "gets the same response for %s as for a task that never existed, in every state of it",
  },
  {
    id: "D9",
    says: "A foreign task and an unknown one get the same response.",
    test: "gets the same response for %s as for a task that never existed, in every state of it",
  },
  {
    id: "D10",
    says: "Having a handle does not make a caller its owner.",
    test: "belongs to its user alone, and does not exist for another",
  },
  {
    id: "D11",
    says: "Secrets are not requested through forms.",
    test: "a secret goes by the page even if the client shows forms, and is not shown as it is typed",
  },
  {
    id: "D12",
    says: "A page's URL contains no secrets and no identities.",
    test: "reveals nothing to a reader of the URL, and cannot be changed",
  },
  {
    id: "D13",
    says: "The person who completes a page is the person who was sent to it.",
    test: "a stolen link is of no use to anyone but the person who was asked",
  },
  {
    id: "D14",
    says: "Credentials of third parties do not reach the client.",
    test: "no token, code, verifier or secret in a log, a journal, an audit record, a requestState or a page",
  },
  {
    id: "D15",
    says: "The identity of the caller comes from verified credentials, not from what the client says.",
    test: "credentials %s, without a user, get 403, because the application alone is not a user",
  },
  {
    id: "D16",
    says: "Questions of a task get no more trust than others.",
    test: "the questions of a task are sealed to it, and another task's answer does not fit",
  },
  {
    id: "D17",
    says: "Origin is checked; a local server listens on the loopback address.",
    test: "a Host other than this machine's is refused, so that no rebound name reaches the app",
  },
  {
    id: "D18",
    says: "Headers are compared with the body before anything is decided by them.",
    test: "headers that contradict the body in %s are -32020 and 400",
  },
  {
    id: "D19",
    says: "No sensitive parameter is mirrored in a header.",
    notOurs: "the author's schema decides which parameters are mirrored",
  },
  {
    id: "D20",
    says: "No $ref is fetched from the network, and schemas are bounded.",
    notOurs: "no schema comes from a client: the author's own schemas check arguments and answers",
  },
  {
    id: "D23",
    says: "The number of tasks, subscriptions and their contents is limited.",
    test: "only the first 200 of 10 000 ids count, and only tasks of the caller are read",
    open: "rates are not limited; rate limits belong to a proxy in front",
  },
  {
    id: "D24",
    says: "Messages of the extension are not trusted.",
    test: "%s for an open question is -32602, and nothing is applied, not even the valid answer beside it",
  },
  {
    id: "D25",
    says: "Tokens, answers and credentials do not reach the log.",
    test: "tokens, answers and credentials never reach the log",
  },
  {
    id: "D29",
    says: "The stored contents of a task are protected, and deleted when its life ends.",
    test: "keeps all of a caller's data sealed in the store",
  },

  // ---------------------------------------------------------------- decisions
  {
    id: "G1",
    says: "To end a subscription, the server sends its result over HTTP, and notifications/cancelled before it over stdio.",
    test: "a subscription is acknowledged first, sends each task's state, then every change, then ends",
  },
  {
    id: "G8",
    says: "Problems of a request are reported in one fixed order.",
    test: "a request that is wrong in another way gets that error first, from any client",
  },
  {
    id: "G9",
    says: "A tasks/* request without Mcp-Name is refused.",
    test: "the Mcp-Name header of %s is the task's id, or the response is -32020",
  },
  {
    id: "G10",
    says: "A malformed answer to an open question gets -32602; one that only does not fit is asked again.",
    test: "%s for an open question is -32602, and nothing is applied, not even the valid answer beside it",
  },
  {
    id: "G11",
    says: "Answers are applied before they are acknowledged, and the first one wins.",
    test: "of two simultaneous answers, one wins",
  },
  {
    id: "G12",
    says: "A question has its own deadline, and an error does not count as an answer.",
    test: "a question may have its own time limit, so that the task ends without an answer",
  },
  {
    id: "G13",
    says: "A task may ask what the client of the call declared.",
    test: "fails the task with -32021, whatever the polling client declares",
  },
  {
    id: "G14",
    says: "A task begins as working.",
    test: "CreateTaskResult is flat, begins as working, and contains nothing else",
  },
  {
    id: "G15",
    says: "The life of a task counts from its creation; after that it has failed, and is readable for a while.",
    test: "fails if its time is up before it is done, and is gone after a while",
  },
  {
    id: "G16",
    says: "A client with the older capability may poll in the newer era what it created in the older one.",
    later: "it gets -32021; to poll the task there, the client declares the extension",
  },
  {
    id: "G17",
    says: "A cancelled task stays cancelled, and its questions are gone.",
    test: "ends a task that asks: its questions are gone, and later answers are ignored",
  },
  {
    id: "G18",
    says: "A task whose id could not be delivered is cancelled.",
    test: "leaves no task, because no client would know its id",
  },
  {
    id: "G27",
    says: "Ids that are not served are left out; for the others, the first message has their status.",
    test: "ids of unknown tasks are left out without a message",
  },
  {
    id: "G28",
    says: "Every change is sent, several together if they are close; the last one is sent at once.",
    test: "do not delay the end",
  },
  {
    id: "G29",
    says: "Any object declares the extension, and nothing else does.",
    test: "a declaration that is %j does not count",
  },
  {
    id: "G38",
    says: "Without credentials, the id is sufficient.",
    test: "is every caller without credentials, for whom the id alone is enough",
  },
  {
    id: "G39",
    says: "The newer list of tools does not say which tools may become tasks.",
    test: "the list of tools does not mention tasks",
  },
  {
    id: "G40",
    says: "Ids are compared including their type.",
    test: "each has its own tasks, its own id and its own end",
  },
  {
    id: "G42",
    says: "Two HTTP clients may use the same id for their subscriptions.",
    test: "each has its own tasks, its own id and its own end",
  },
];
