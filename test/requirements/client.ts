// What 2026-07-28 and its tasks extension require of a client (C), and the parts of security (D) and of the decisions where
// they are silent (G) that concern a client, in our words, each with the test that shows it.

import type { Requirement } from "./requirements.ts";

export const clientRequirements: readonly Requirement[] = [
  // ---------------------------------------------------------------- envelope, results
  {
    id: "C1",
    says: "Ids are strings or integers, and no id is in use twice at the same time.",
    test: "has a unique id and a unique progress token",
  },
  {
    id: "C2",
    says: "Every request has the whole envelope, including retries and tasks/*.",
    test: "names the client, its revision and its capabilities, including retries and tasks/*",
  },
  {
    id: "C3",
    says: "Each request declares what the client can do.",
    test: "names the client, its revision and its capabilities, including retries and tasks/*",
  },
  {
    id: "C4",
    says: "A client that declares elicitation has at least one mode of it.",
    test: "declares what the client has a handler for, and nothing else: %s",
  },
  {
    id: "C5",
    says: "A result without resultType is complete.",
    test: "a result without resultType is complete",
  },
  {
    id: "C6",
    says: "An unknown resultType is an invalid response.",
    test: "is not accepted as a response to a call: %s",
  },
  {
    id: "C7",
    says: "Only tools/call may return a task.",
    test: "a task is refused if the method cannot create one",
  },
  {
    id: "C8",
    says: "The client never sends a JSON-RPC response to a modern server.",
    test: "gets no reply to a request in its stream, whose question is not asked",
  },
  {
    id: "C9",
    says: "On -32022 the client takes a common version or shows the error.",
    test: "the error names the revisions that the server speaks",
  },
  {
    id: "C10",
    says: "Progress tokens are unique among those in use.",
    test: "has a unique id and a unique progress token",
  },
  {
    id: "C11",
    says: "Every request has a time limit, and a total limit that progress does not extend.",
    test: "keep-alive messages are not a response, and timeoutMs applies whatever they are",
  },
  {
    id: "C12",
    says: "A response to a cancelled request is dropped.",
    test: "an abandoned call is cancelled by a notification, and its late response is dropped",
  },
  {
    id: "C13",
    says: "The name that a server gives itself is for display only.",
    notOurs:
      "Nothing depends on it. If a server has no address, its name only identifies a reference.",
  },

  // ---------------------------------------------------------------- rounds
  {
    id: "C20",
    says: "A retry waits until every question is answered.",
    test: "a retry is sent when all questions are answered, with an answer to each key",
  },
  {
    id: "C21",
    says: "A round without questions may be retried at once.",
    test: "endless rounds without questions are stopped",
  },
  {
    id: "C22",
    says: "requestState is returned byte for byte, and only if the last round had one.",
    test: "the state goes back byte for byte, even if it is empty, and only if there is one",
  },
  {
    id: "C23",
    says: "The client does not look into requestState.",
    test: "the state goes back byte for byte, even if it is empty, and only if there is one",
  },
  {
    id: "C24",
    says: "A retry has a new id.",
    test: "has a unique id and a unique progress token",
  },
  {
    id: "C25",
    says: "Answers and state are on the retry of that request only.",
    test: "no other request carries what a retry carries",
  },
  {
    id: "C26",
    says: "A retry repeats the method and its parameters.",
    test: "the state goes back byte for byte, even if it is empty, and only if there is one",
  },
  {
    id: "C27",
    says: "Every key that was asked gets an answer under the same key.",
    test: "a retry is sent when all questions are answered, with an answer to each key",
  },
  {
    id: "C28",
    says: "An answer is the bare result of its kind of question.",
    test: "the same key before the task and in it names two questions",
  },
  {
    id: "C29",
    says: "Results of rounds are not cached.",
    test: "is sent even if the same request was sent before, because results are not cached",
  },
  {
    id: "C30",
    says: "If a question cannot be answered, the client need not retry, and invents nothing (G12).",
    test: "a handler that throws ends the call with its reason and a reference",
  },
  {
    id: "C31",
    says: "The loop is bounded and can be stopped.",
    test: "endless rounds with questions are stopped",
  },
  {
    id: "C32",
    says: "The caller may answer by hand.",
    test: "questions arrive as events",
  },

  // ---------------------------------------------------------------- questions
  {
    id: "C40",
    says: "A question without a mode is a form; an unknown mode fails the call.",
    test: "a question without a mode is a form",
  },
  {
    id: "C41",
    says: "An accepted form has content that fits, and an accepted page has none.",
    test: "accepting a page sends no content",
  },
  {
    id: "C42",
    says: "A client that shows a question says which server asks, and offers decline and cancel.",
    notOurs: "The handler shows the question; connection.server says which server asks.",
  },
  {
    id: "C43",
    says: "Answers are checked against their form, and defaults are filled in.",
    test: "a form is filled in with its defaults",
  },
  {
    id: "C44",
    says: "A page is neither fetched nor opened without consent.",
    test: "a page that is asked for again is shown again, without assuming consent",
  },
  {
    id: "C45",
    says: "The host of a page is shown separately, and a suspicious one is flagged.",
    test: "a host that looks like another is flagged",
  },
  {
    id: "C46",
    says: "A person approves what a model is asked, and maxTokens is respected.",
    notOurs: "The handler has the model and the whole request.",
  },
  {
    id: "C47",
    says: "Sampling with tools that the client did not declare is an error.",
    test: "sampling with tools is refused, because it was not declared",
  },
  { id: "C48", says: "Roots are file URIs.", test: "roots must be file URLs" },
  {
    id: "C49",
    says: "Questions of a task get no more trust than others.",
    test: "questions of a task are checked as those of rounds are",
  },

  // ---------------------------------------------------------------- transport
  {
    id: "C60",
    says: "The client reads both kinds of response, and skips comments.",
    test: "may be a stream with comments and unknown events",
  },
  {
    id: "C61",
    says: "The headers have method, version and name; for a task, its id.",
    test: "has headers that name its method and target; for a task, the target is its id",
  },
  {
    id: "C62",
    says: "Arguments go into headers according to the newest known schema.",
    test: "arguments that are present and fit in a header are sent as headers",
  },
  {
    id: "C63",
    says: "On -32020 the client reads the list of tools and sends the call once more.",
    test: "if a call is refused for a missing header, the client reads the list of tools once",
  },
  {
    id: "C64",
    says: "Over HTTP the client cancels by closing the stream, over stdio by a notification.",
    test: "an abandoned round closes its request and is not sent again",
  },
  {
    id: "C65",
    says: "If a stream breaks off, its request is lost and cannot be resumed.",
    test: "is not requested again when it breaks off, because the call may have had its effect",
  },
  {
    id: "C66",
    says: "The client understands 413 and 431.",
    test: "HTTP %i is reported as a request that is too large",
  },
  {
    id: "C67",
    says: "A stdio server that crashed is started again.",
    notOurs:
      "A connection belongs to one process. With a reference, the caller connects again and resumes, because only the caller knows what is safe to repeat.",
  },
  {
    id: "C68",
    says: "The newest revision is tried first, and an older one is never used silently.",
    test: "the client never silently falls back from an era that the server does not speak",
  },

  // ---------------------------------------------------------------- subscriptions
  {
    id: "C70",
    says: "The client compares what was acknowledged with what it asked for.",
    test: "polling goes on if the server gives no hints",
  },
  {
    id: "C71",
    says: "Notifications are matched to their subscription.",
    test: "hints of the client's own subscriptions belong to the client",
  },
  {
    id: "C72",
    says: "A subscription that ends without a result may be opened again.",
    test: "hints whose stream breaks off are requested again a few times",
  },

  // ---------------------------------------------------------------- tasks
  {
    id: "C80",
    says: "Any tools/call may return a result, questions or a task.",
    test: "a task that asks nothing returns its result",
  },
  {
    id: "C81",
    says: "A task is polled at its newest interval.",
    test: "a task is polled at the newest interval, within bounds",
  },
  {
    id: "C82",
    says: "A task is polled until it is over or cancelled.",
    test: "the first final state that the client sees is final",
  },
  {
    id: "C83",
    says: "Its id outlives the process.",
    test: "is resumed when the client is killed at event %i: %s",
  },
  {
    id: "C84",
    says: "The client reads the questions of a task and answers them with tasks/update.",
    test: "questions come out and answers go in, each once",
  },
  {
    id: "C85",
    says: "A key is answered once, however often it is shown.",
    test: "a key is answered once, however often it appears, and not for a different question",
  },
  {
    id: "C86",
    says: "Only open questions are answered.",
    test: "an answer that has arrived is not sent again, even if its acknowledgement was lost",
  },
  {
    id: "C87",
    says: "Polling continues after an answer.",
    test: "a key is answered once, however often it appears, and not for a different question",
  },
  {
    id: "C88",
    says: "A task is cancelled by tasks/cancel only, and need not be polled afterwards.",
    test: "a cancelled task gets tasks/cancel and is no longer polled",
  },
  {
    id: "C89",
    says: "The life of a task is a limit, which is read again each time.",
    test: "a task whose time is long over is given up, even if the server says that it is working",
  },
  {
    id: "C90",
    says: "Notifications may save polls; polling works without them.",
    test: "a push makes the client poll at once, and only the polled state counts",
  },
  {
    id: "C91",
    says: "A completed task gives its result, a failed one its error, and a cancelled one neither.",
    test: "a tool that reports a failure has a result; a tool that throws has an error",
  },
  {
    id: "C92",
    says: "The keys of rounds and of tasks are independent.",
    test: "the same key before the task and in it names two questions",
  },
  {
    id: "C93",
    says: "A plain callTool may wait for the task.",
    test: "a task is called like any other tool, and asks a question",
  },
  {
    id: "C94",
    says: "A response about another task is refused.",
    test: "is not accepted as the state of a task: %s",
  },
  {
    id: "C95",
    says: "The first end that the client sees counts.",
    test: "the first final state that the client sees is final",
  },

  // ---------------------------------------------------------------- security, decisions
  {
    id: "D26",
    says: "Keys such as __proto__ are ordinary keys.",
    test: "a key with an unusual name is treated like any other",
  },
  {
    id: "G19",
    says: "Rounds with and without questions are counted separately, and those without are paced.",
    test: "endless rounds without questions are stopped",
  },
  {
    id: "G20",
    says: "Handlers answer by themselves; without one, the call fails with the question.",
    test: "a question of an undeclared kind is not answered, and the error contains it",
  },
  {
    id: "G21",
    says: "Each leg has its own trace context, linked to the first.",
    later: "The client does not send one yet; a custom fetch can.",
  },
  {
    id: "G22",
    says: "A page is never opened again without asking.",
    test: "a page that is asked for again is shown again, without assuming consent",
  },
  {
    id: "G26",
    says: "Without an interval polls are a second apart, growing to ten; never less than a tenth.",
    test: "a task without an interval is polled less and less often",
  },
  {
    id: "G36",
    says: "A call whose answer was lost is not repeated; reading a task is.",
    test: "is not requested again when it breaks off, because the call may have had its effect",
  },
];
