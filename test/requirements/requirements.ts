// What 2026-07-28 and its tasks extension ask of a server (S: the wire, A: shapes on it, D: security), what was
// decided where they are silent (G), in our words, and the test that shows it here.
// The client's are in client.ts; the console has its list when it has its code.

export type Requirement = { readonly id: string; readonly says: string } & (
  | {
      /** The title of a test, without its tags; the title carries the id in brackets. */
      readonly test: string;
      /** What of it is not met yet. */
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
    says: "A response has its request's id, of the same type.",
    test: "is repeated by type: a text id comes back as text, a number as a number",
  },
  {
    id: "S2",
    says: "Every result says its resultType.",
    test: "has resultType, inputRequests, requestState and the server's name, and nothing else",
  },
  {
    id: "S3",
    says: "No resultType but complete, input_required and those of extensions the request declared.",
    test: "declares no extension that was not asked for",
  },
  {
    id: "S4",
    says: "A request without version or capabilities in its envelope is -32602, HTTP 400.",
    test: "without %s is -32602 and 400",
  },
  {
    id: "S5",
    says: "clientInfo may be absent.",
    test: "is served without clientInfo, and whatever the client calls itself",
  },
  {
    id: "S6",
    says: "Version, capabilities and identity come from this request, not from an earlier one.",
    test: "what one request says of its client holds for that request alone",
  },
  {
    id: "S7",
    says: "A version that is not served is -32022, HTTP 400, with those that are.",
    test: "of a version nobody serves is -32022 and 400, and names those that are",
  },
  {
    id: "S8",
    says: "server/discover tells versions, capabilities and how long they may be cached.",
    test: "is told the server's versions, capabilities and how long they hold",
  },
  {
    id: "S9",
    says: "Every result names the server in its _meta.",
    test: "has resultType, inputRequests, requestState and the server's name, and nothing else",
  },
  {
    id: "S10",
    says: "Nothing depends on what the client calls itself.",
    test: "what a client says of itself is not who it is",
  },
  {
    id: "S11",
    says: "What needs an undeclared capability is -32021, HTTP 400, with what is missing.",
    test: "gets -32021 and HTTP 400 for %s %j with %j, naming what is missing",
  },
  {
    id: "S12",
    says: "An unknown method is -32601, HTTP 404.",
    test: "%s does not exist in 2026-07-28: -32601 and 404",
  },
  {
    id: "S13",
    says: "The server sends no request to a modern client.",
    test: "carries no request of the server's",
  },
  {
    id: "S14",
    says: "None of the codes of older revisions, nor undefined ones of the reserved range.",
    test: "unknown tools and prompts are -32602, unknown methods -32601 and 404",
  },
  {
    id: "S15",
    says: "State that outlives a request is reached only by what the request carries.",
    test: "many calls at once do not meet: each has its own answers and its own keys",
  },
  {
    id: "S16",
    says: "Requests of one call may come to different processes.",
    test: "may go to another instance that shares nothing but the keys",
  },
  {
    id: "S17",
    says: "An extension the peer lacks falls back to the core or is refused.",
    test: "declares no extension that was not asked for",
  },
  {
    id: "S18",
    says: "The Tasks extension is off until it is turned on.",
    test: "declares no extension that was not asked for",
  },
  {
    id: "S19",
    says: "Lists do not vary by connection or by what was called.",
    test: "lists are the same before, between and after the rounds of a call",
  },

  // ---------------------------------------------------------------- rounds
  {
    id: "S20",
    says: "input_required only for tools/call, prompts/get and resources/read.",
    test: "%s asks nothing",
  },
  {
    id: "S21",
    says: "It has inputRequests or requestState.",
    test: "has only a token where nothing is asked",
  },
  {
    id: "S22",
    says: "Each input request is a bare elicitation, sampling or roots request.",
    test: "carries each kind as the bare request the specification has, with flat forms",
  },
  {
    id: "S23",
    says: "Its keys are the server's, each once.",
    test: "has each key once: a handler that uses one twice is told so, and nothing is asked",
  },
  {
    id: "S24",
    says: "Nothing is asked that this request's capabilities do not list.",
    test: "any more, in a later round, is not asked: each request speaks for itself",
  },
  {
    id: "S25",
    says: "No mode of elicitation the client has not; an empty capability means forms.",
    test: "`elicitation: {}` counts as a client of forms",
  },
  {
    id: "S26",
    says: "No tools in sampling unless declared, nor includeContext.",
    test: "where tools are concerned gets no sampling with tools",
  },
  {
    id: "S27",
    says: "A received requestState is hostile input.",
    test: "where it is no text at all: %j",
  },
  {
    id: "S28",
    says: "It is protected against change, and refused where that fails.",
    test: "with $name: one answer, nothing runs",
  },
  {
    id: "S29",
    says: "A changed one is an error, not asked again and not served.",
    test: "with $name: one answer, nothing runs",
  },
  {
    id: "S30",
    says: "It is good for one caller, one request and a short time.",
    test: "after its eleven minutes, and not before",
  },
  {
    id: "S31",
    says: "Where it may be used once only, the server keeps a record.",
    test: "with once: true a round that is sent again gets its first response, and one with other answers none",
  },
  {
    id: "S32",
    says: "Nothing is held open for a client that may not come back.",
    test: "a client that never comes back has left nothing behind",
  },
  {
    id: "S33",
    says: "A call may take several rounds.",
    test: "a tool asks a form, a choice, a yes, the model and the roots, each after a step that runs once",
  },
  {
    id: "S34",
    says: "Answers are validated; those without structure are an error.",
    test: "%s: %j is asked for again with the reason",
  },
  {
    id: "S35",
    says: "Unknown keys and further members are ignored.",
    test: "under another key, or in further members, is ignored beside the right one",
  },
  {
    id: "S36",
    says: "Answers that are missing are asked for again.",
    test: "while another came is asked for alone; the one that came is kept",
  },
  {
    id: "S37",
    says: "Decline, cancel and a client that never returns are all handled.",
    test: "to %s ends the call with a result that says so, and no further body runs",
  },
  {
    id: "S38",
    says: "Any instance can serve a retry from what it carries.",
    test: "may go to another instance that shares nothing but the keys",
  },
  {
    id: "S39",
    says: "No caching hints on input_required; on complete reads and lists there are.",
    test: "of a resource gives its contents, with caching hints",
  },
  {
    id: "S40",
    says: "Nothing follows an input_required on its stream.",
    test: "ends with the result, is held back by no proxy, and nothing follows it",
  },
  {
    id: "S41",
    says: "Forms are flat; a page has a message and a valid URL.",
    test: "carries each kind as the bare request the specification has, with flat forms",
  },
  {
    id: "S42",
    says: "In a sampling history every tool_use is followed by its results alone.",
    test: "has no tool_use without its results: the author is told, and nothing is asked",
  },
  {
    id: "S43",
    says: "Helpers for sampling and roots are marked as deprecated.",
    later: "ctx.sample and ctx.roots carry no mark yet; they work until at least 2027-07-28",
  },
  {
    id: "S44",
    says: "Elicitation that waits in place, kept for old code, is marked as legacy.",
    notOurs: "there is none: ctx.ask suspends and is called again, on both eras",
  },

  // ---------------------------------------------------------------- HTTP
  {
    id: "S50",
    says: "One path takes POST; 202 and no body for a notification.",
    test: "a notification is accepted with 202 and no body",
  },
  { id: "S51", says: "A foreign Origin is 403.", test: "a page of another origin (%s) gets 403" },
  {
    id: "S52",
    says: "The standard headers are there and say what the body says, else 400 and -32020.",
    test: "must all be there: without %s it is -32020",
  },
  {
    id: "S53",
    says: "Mcp-Name of tasks/* is the task's id.",
    test: "of %s is the task's id, or it is -32020",
  },
  {
    id: "S54",
    says: "Header names in any case, values exactly, white space around them ignored.",
    test: "may be written in any case and with space around them",
  },
  {
    id: "S55",
    says: "Mcp-Param headers are there and equal where the body has a value.",
    test: "a parameter that is mirrored in a header must be there and be the same, by the author's own schema",
  },
  {
    id: "S56",
    says: "To close the stream cancels the request.",
    test: "aborts ctx.signal and the body's, and nothing runs after it",
  },
  {
    id: "S57",
    says: "Notifications on a stream belong to its request.",
    test: "names the token of the request it belongs to, number or text",
  },
  {
    id: "S58",
    says: "Streams ask proxies not to hold them back.",
    test: "ends with the result, is held back by no proxy, and nothing follows it",
  },
  {
    id: "S59",
    says: "GET and DELETE are 405; Mcp-Session-Id and Last-Event-ID mean nothing.",
    test: "GET and DELETE without a session are not for it",
  },
  {
    id: "S60",
    says: "A request without a version header is refused.",
    test: "must all be there: without %s it is -32020",
  },
  {
    id: "S61",
    says: "A modern-only server's error to initialize names its versions.",
    notOurs: "both eras are served: initialize opens a session",
  },

  // ---------------------------------------------------------------- stdio
  {
    id: "S65",
    says: "One message a line, and nothing else on standard output.",
    test: "one message a line and nothing else, both ways, through all rounds of a call",
    open: "an author's console.log in a handler goes to standard output, too",
  },
  {
    id: "S66",
    says: "notifications/cancelled stops a request and silences its response.",
    test: "stops the body and the handler, and nothing is answered to it",
  },
  {
    id: "S67",
    says: "It exits when its input ends.",
    test: "it stops what is under way and exits",
  },

  // ---------------------------------------------------------------- progress and log
  {
    id: "S70",
    says: "Progress names a token of an active request, increases strictly and ends with it.",
    test: "goes out as it is made, strictly increasing, and not again while replaying",
  },
  {
    id: "S71",
    says: "Log messages only where the request set a level, and on its own stream.",
    test: "is silent where the request set no level",
  },
  { id: "S72", says: "An unknown level is -32602.", test: "of an unknown level is -32602" },

  // ---------------------------------------------------------------- subscriptions
  {
    id: "S73",
    says: "The acknowledgement comes first, and lists only what will be told.",
    test: "is acknowledged first, tells how each task stands, then every change, then ends",
  },
  {
    id: "S74",
    says: "Every message of a subscription names it.",
    test: "each has its own tasks, its own id and its own end",
  },
  {
    id: "S75",
    says: "Only what was asked for is told.",
    test: "tasks alone hear nothing of other changes",
  },
  {
    id: "S76",
    says: "A server that ends one answers the request, then closes.",
    test: "when the app closes: open streams are told, and end at once",
  },
  {
    id: "S77",
    says: "A client may have several at once.",
    test: "several at once have each their own tasks, ids and ends",
  },

  // ---------------------------------------------------------------- tasks
  {
    id: "S80",
    says: "The extension is declared in discovery, and nothing of the older tasks.",
    test: "discovery tells of the extension, with no settings, and of nothing older",
  },
  {
    id: "S81",
    says: "A task is the answer to tools/call alone, and only where this request declares it.",
    test: "only at first, gets none: it goes on in rounds",
  },
  {
    id: "S82",
    says: "The server decides: what is quick may be answered at once.",
    test: "the handler decides: what is quick is answered at once",
  },
  {
    id: "S83",
    says: "A tool that runs as a task alone is -32021 without the capability.",
    test: "a tool that runs as a task alone is refused before anything ran",
  },
  {
    id: "S84",
    says: "One that may runs in its request without the capability.",
    test: "the call goes on in its request, question by question",
  },
  {
    id: "S85",
    says: "resultType task is on that answer and on nothing else.",
    test: "CreateTaskResult is flat, begins as working, and holds nothing else",
  },
  {
    id: "S86",
    says: "The task is durable and readable before its id goes out.",
    test: "can be read, and is in the store, before its id goes out",
  },
  {
    id: "S87",
    says: "All rounds come before it; neither has what is the other's.",
    test: "over HTTP: each phase in its own words, each body once",
  },
  {
    id: "S88",
    says: "tasks/get has what goes with the status: all questions, the result or the error.",
    test: "of one that asks, all that is asked, as bare requests",
  },
  {
    id: "S89",
    says: "The methods' own results are complete.",
    test: "tasks/update and tasks/cancel are acknowledged, and that is all",
  },
  {
    id: "S90",
    says: "A result that says it went wrong is completed; failed is for errors of the protocol.",
    test: "of one that is done, its result, also where that says that it went wrong",
  },
  {
    id: "S91",
    says: "Failed has no result, completed no error.",
    test: "of one that ended in an error of the protocol, that error",
  },
  {
    id: "S92",
    says: "The result is what the request itself would have got.",
    test: "the same of a tool with an outputSchema, whose result has structured content",
  },
  {
    id: "S93",
    says: "A key is used once in a task.",
    test: "that does not fit the form is taken, and the question put again under a new key",
  },
  {
    id: "S94",
    says: "tasks/update is acknowledged, and that is all.",
    test: "tasks/update and tasks/cancel are acknowledged, and that is all",
  },
  {
    id: "S95",
    says: "Answers to what is not asked, or not any more, are ignored, whatever they are.",
    test: "that comes before its question, or for what nobody asked, is acknowledged and counts for nothing",
  },
  {
    id: "S96",
    says: "Some of the answers may come; the others are still asked for.",
    test: "is applied when it is acknowledged: the next tasks/get no longer asks",
  },
  {
    id: "S97",
    says: "tasks/cancel is acknowledged, also where the task is over.",
    test: "tasks/update and tasks/cancel are acknowledged, and that is all",
  },
  {
    id: "S98",
    says: "An unknown id is -32602.",
    test: "that is %s is nobody's: the same -32602 everywhere",
  },
  {
    id: "S99",
    says: "Who does not declare the extension gets -32021, before anything is looked up.",
    test: "each request speaks for itself: to follow one, the later ones declare it, too",
  },
  {
    id: "S100",
    says: "tasks/result and tasks/list do not exist.",
    test: "prompts and resources are none, and nothing else takes the methods' names",
  },
  {
    id: "S101",
    says: "The older params.task is ignored.",
    test: "a wish for one changes nothing for a client that follows them",
  },
  {
    id: "S102",
    says: "Who declares only the older capability has declared nothing.",
    test: "none for one that declares only what 2025-11-25 had, or asks for one",
  },
  {
    id: "S103",
    says: "Under 2025-11-25 the extension means nothing.",
    test: "a client of the older one that declares the extension gets no task for it",
  },
  {
    id: "S104",
    says: "A notification is the whole task, as tasks/get would show it.",
    test: "each message is what tasks/get would say then, of one that is cancelled, too (%s)",
  },
  {
    id: "S105",
    says: "No progress and no log messages of a task.",
    test: "is told by its status message alone: nothing of it goes out elsewhere",
  },
  {
    id: "S106",
    says: "ttlMs and pollIntervalMs are whole numbers.",
    test: "has a whole number of milliseconds to live, and to wait between polls",
  },
  {
    id: "S107",
    says: "Not before its time is up may a task fail for it, or be deleted.",
    test: "whose time is up before it is done has failed, and is gone after a while",
  },
  {
    id: "S108",
    says: "Who polls too fast may be slowed down.",
    notOurs: "a poll is one read by key; limits of rate are for what stands in front",
  },
  {
    id: "S109",
    says: "Working and input_required alternate; what is over stays so.",
    test: "moves between working and input_required, then ends and stays so",
  },
  {
    id: "S110",
    says: "Neither notifications/cancelled nor a lost connection cancels a task.",
    test: "goes on where the request that made it has long been answered, and its client is gone",
  },
  {
    id: "S111",
    says: "Which methods may become tasks is data.",
    notOurs: "a definition says it of itself (`task`); only tools have it to say",
  },
  {
    id: "S112",
    says: "The extension's names are kept for it.",
    test: "prompts and resources are none, and nothing else takes the methods' names",
  },
  {
    id: "S113",
    says: "Errors say why: never there, or over.",
    test: "that was done is deleted at the end of its time, and its owner is told so",
  },
  {
    id: "S114",
    says: "tasks/get changes nothing.",
    test: "tasks/get changes nothing, however often it is asked",
  },

  // ---------------------------------------------------------------- shapes of tasks
  {
    id: "A10",
    says: "CreateTaskResult.",
    test: "CreateTaskResult is flat, begins as working, and holds nothing else",
  },
  {
    id: "A11",
    says: "DetailedTask in each status.",
    test: "of a cancelled one, the base alone",
  },
  {
    id: "A12",
    says: "The acknowledgements.",
    test: "tasks/update and tasks/cancel are acknowledged, and that is all",
  },
  {
    id: "A13",
    says: "Subscriptions and notifications/tasks.",
    test: "is acknowledged first, tells how each task stands, then every change, then ends",
  },
  {
    id: "A14",
    says: "What belongs to a request ends with it; a task is cancelled by neither way.",
    test: "over stdio, to cancel the request whose answer was a task cancels nothing",
  },
  {
    id: "A15",
    says: "The error that names the extension.",
    test: "errors of the extension are errors, with what is needed",
  },

  // ---------------------------------------------------------------- security
  {
    id: "D1",
    says: "requestState is verified before it is used for anything.",
    test: "by a server with another name, or with other keys",
  },
  {
    id: "D2",
    says: "It is bound to caller, request and a few minutes.",
    test: "is no good for another, though both use the same application",
  },
  {
    id: "D3",
    says: "What may happen once only has a record of its use.",
    test: "with once: true a round that is sent again gets its first response, and one with other answers none",
  },
  {
    id: "D4",
    says: "It is encrypted: the client cannot read what is in it.",
    test: "lets nobody read what is in its token",
  },
  {
    id: "D5",
    says: "All its refusals look alike from outside.",
    test: "with $name: one answer, nothing runs",
  },
  {
    id: "D6",
    says: "Keys rotate, are 256 bits, and are not made up outside of development.",
    test: "opens under an older key of the ring, and seals under the newest",
  },
  {
    id: "D7",
    says: "Task ids cannot be guessed or listed.",
    test: "ids are 128 random bits, safe in a header",
  },
  {
    id: "D8",
    says: "Every request for a task, and every subscription, is checked against its owner.",
    test: "gets for %s what a task that never was gets, in every state of it",
  },
  {
    id: "D9",
    says: "A foreign task and an unknown one get the same answer.",
    test: "gets for %s what a task that never was gets, in every state of it",
  },
  {
    id: "D10",
    says: "To have a handle is not to be its owner.",
    test: "is its user's alone: to another it is as if it did not exist",
  },
  {
    id: "D11",
    says: "No secrets through forms.",
    notOurs: "what an author asks for is the author's; ctx.openUrl is there for secrets",
  },
  {
    id: "D12",
    says: "No secrets and no identities in a page's URL.",
    test: "shows nothing of it to who sees the URL, and cannot be changed",
  },
  {
    id: "D13",
    says: "Who completes a page is who was sent to it.",
    test: "tells the page which call, which question and whose",
  },
  {
    id: "D14",
    says: "Credentials of third parties do not reach the client.",
    notOurs: "the author's page keeps them; what a step returns travels sealed (D4)",
  },
  {
    id: "D15",
    says: "Who is asked is known from verified credentials, not from what the client says.",
    test: "credentials %s, without a user, get 403: the application alone is nobody",
  },
  {
    id: "D16",
    says: "Questions of a task are trusted no more than others.",
    test: "what a task asks is sealed to it: another task's answer is none of its own",
  },
  {
    id: "D17",
    says: "Origin is checked; a local server listens on the loopback address.",
    test: "another Host than this machine's is refused, so that no rebound name reaches it",
  },
  {
    id: "D18",
    says: "Headers equal the body before anything is decided by them.",
    test: "that say otherwise than the body in %s are -32020 and 400",
  },
  {
    id: "D19",
    says: "No sensitive parameter is mirrored in a header.",
    notOurs: "which are mirrored is in the author's schema",
  },
  {
    id: "D20",
    says: "No $ref is fetched from the network, and schemas are bounded.",
    notOurs: "no schema comes from a client: arguments and answers are checked by the author's own",
  },
  {
    id: "D23",
    says: "Tasks, subscriptions and what comes with them are limited.",
    test: "of 10 000, the first thousand are looked at, and the others are left out",
    open: "rates are not: limits of those are for what stands in front",
  },
  {
    id: "D24",
    says: "What comes with the extension is not trusted.",
    test: "%s for what is asked is -32602, and nothing is applied, not even the good one beside it",
  },
  {
    id: "D25",
    says: "Tokens, answers and credentials do not reach the log.",
    test: "neither tokens nor answers nor credentials reach the log, whatever happens",
  },
  {
    id: "D29",
    says: "What is kept of a task is protected, and deleted at the end of its time.",
    test: "holds all of a caller's in the store sealed",
  },

  // ---------------------------------------------------------------- decisions
  {
    id: "G1",
    says: "To end a subscription: over HTTP its result, over stdio notifications/cancelled before it.",
    test: "is acknowledged first, tells how each task stands, then every change, then ends",
  },
  {
    id: "G8",
    says: "What is wrong with a request is told in one order.",
    test: "a request that is wrong otherwise is told that first, whoever sends it",
  },
  {
    id: "G9",
    says: "Without Mcp-Name tasks/* is refused.",
    test: "of %s is the task's id, or it is -32020",
  },
  {
    id: "G10",
    says: "A wrong structure for what is asked is -32602; what merely does not fit is asked again.",
    test: "%s for what is asked is -32602, and nothing is applied, not even the good one beside it",
  },
  {
    id: "G11",
    says: "Answers are applied before they are acknowledged; the first wins.",
    test: "of two at the same time one wins",
  },
  {
    id: "G12",
    says: "A question has its own deadline; an error is no answer.",
    test: "a question may have a time of its own: nobody need answer for the task to end",
  },
  {
    id: "G13",
    says: "What may be asked in a task is what the call's client declared.",
    test: "fails the task with -32021, whatever the client that polls declares",
  },
  {
    id: "G14",
    says: "A task begins as working.",
    test: "CreateTaskResult is flat, begins as working, and holds nothing else",
  },
  {
    id: "G15",
    says: "Its time counts from its creation; then it has failed, and is readable for a while.",
    test: "whose time is up before it is done has failed, and is gone after a while",
  },
  {
    id: "G16",
    says: "A client with the older capability may poll, in the newer era, what it made in the older.",
    later: "it gets -32021: to poll it there, it declares the extension",
  },
  {
    id: "G17",
    says: "Cancelled stays cancelled; what is asked then is gone.",
    test: "of one that asks ends it: the questions are gone, later answers ignored",
  },
  {
    id: "G18",
    says: "A task whose id could not be delivered is cancelled.",
    test: "has none: nobody could ever ask for it",
  },
  {
    id: "G27",
    says: "Ids that are not served are left out; of the others the first message says how they stand.",
    test: "of those that are nobody's are left out, and nothing is said of it",
  },
  {
    id: "G28",
    says: "Every change is told, several at once where they are close; the last at once.",
    test: "the end is not held back by what was told just before",
  },
  {
    id: "G29",
    says: "Any object declares the extension, and nothing else does.",
    test: "a declaration that is %j is none",
  },
  {
    id: "G38",
    says: "Without credentials the id is all it takes.",
    test: "is everybody without credentials: the id alone is what it takes then",
  },
  {
    id: "G39",
    says: "The newer list of tools does not say which may be tasks.",
    test: "the list of tools is silent on tasks",
  },
  {
    id: "G40",
    says: "Ids are compared with their type.",
    test: "each has its own tasks, its own id and its own end",
  },
  {
    id: "G42",
    says: "Two HTTP clients may use one id for their subscriptions.",
    test: "each has its own tasks, its own id and its own end",
  },
];
