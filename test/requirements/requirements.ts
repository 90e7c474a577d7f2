// What 2026-07-28 asks of a server (S: the wire, D: security), in our words, and the test that shows it here.
// Tasks, the client and the console have their lists when they have their code.

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
    later: "`once: true` comes with the task store; until then a step has an idempotency key",
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
  { id: "S53", says: "Mcp-Name of tasks/* is the task's id.", later: "comes with tasks" },
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
    later: "`once: true` comes with the task store",
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
    later: "comes with tasks",
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
    id: "D25",
    says: "Tokens, answers and credentials do not reach the log.",
    test: "neither tokens nor answers nor credentials reach the log, whatever happens",
  },
];
