// What 2026-07-28 and its tasks extension require of a client (C), and the parts of security (D) and of the decisions where
// they are silent (G) that concern a client, in our words, each with the test that shows it.

import type { Requirement } from "./requirements.ts";

export const clientRequirements: readonly Requirement[] = [
  // ---------------------------------------------------------------- envelope, results
  {
    id: "C1",
    says: "Ids are strings or integers, and no id is in use twice at the same time.",
    test: "has an id and a progress token that no other has",
  },
  {
    id: "C2",
    says: "Every request has the whole envelope, including retries and tasks/*.",
    test: "says who is calling, in which revision and with what, retries and tasks/* included",
  },
  {
    id: "C3",
    says: "Each request declares what the client can do.",
    test: "says who is calling, in which revision and with what, retries and tasks/* included",
  },
  {
    id: "C4",
    says: "A client that declares elicitation has at least one mode of it.",
    test: "declares what it has a handler for, and nothing else: %s",
  },
  {
    id: "C5",
    says: "A result without resultType is complete.",
    test: "no resultType is a complete result",
  },
  {
    id: "C6",
    says: "An unknown resultType is an invalid response.",
    test: "is no answer to a call: %s",
  },
  {
    id: "C7",
    says: "Only tools/call may return a task.",
    test: "a task where there can be none",
  },
  {
    id: "C8",
    says: "The client never sends a JSON-RPC response to a modern server.",
    test: "with a request in it gets no response, and its question is not put",
  },
  {
    id: "C9",
    says: "On -32022 the client takes a common version or shows the error.",
    test: "is an error that says what the server speaks",
  },
  {
    id: "C10",
    says: "Progress tokens are unique among those in use.",
    test: "has an id and a progress token that no other has",
  },
  {
    id: "C11",
    says: "Every request has a time limit, and a total limit that progress does not extend.",
    test: "signs of life are no answer, and timeoutMs holds whatever they are",
  },
  {
    id: "C12",
    says: "A response to a cancelled request is dropped.",
    test: "a call that is given up is cancelled by a notification, and its late answer dropped",
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
    test: "a retry goes out when all is answered, with an answer to each key",
  },
  {
    id: "C21",
    says: "A round without questions may be retried at once.",
    test: "rounds without end, without questions",
  },
  {
    id: "C22",
    says: "requestState is returned byte for byte, and only if the last round had one.",
    test: "the state goes back byte for byte, also an empty one, and only where there is one",
  },
  {
    id: "C23",
    says: "The client does not look into requestState.",
    test: "the state goes back byte for byte, also an empty one, and only where there is one",
  },
  {
    id: "C24",
    says: "A retry has a new id.",
    test: "has an id and a progress token that no other has",
  },
  {
    id: "C25",
    says: "Answers and state are on the retry of that request only.",
    test: "what a retry carries is on no other request",
  },
  {
    id: "C26",
    says: "A retry repeats the method and its parameters.",
    test: "the state goes back byte for byte, also an empty one, and only where there is one",
  },
  {
    id: "C27",
    says: "Every key that was asked gets an answer under the same key.",
    test: "a retry goes out when all is answered, with an answer to each key",
  },
  {
    id: "C28",
    says: "An answer is the bare result of its kind of question.",
    test: "the same key before the task and in it is two questions",
  },
  {
    id: "C29",
    says: "Results of rounds are not cached.",
    test: "is sent, though the same was asked before: results are not kept",
  },
  {
    id: "C30",
    says: "If a question cannot be answered, the client need not retry, and invents nothing (G12).",
    test: "a handler that throws ends the call with its reason and a reference",
  },
  {
    id: "C31",
    says: "The loop is bounded and can be stopped.",
    test: "rounds without end, with questions",
  },
  {
    id: "C32",
    says: "The caller may answer by hand.",
    test: "questions come out as events",
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
    test: "a page is agreed to without content",
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
    test: "a page that is asked for again is shown again, and not taken for agreed to",
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
    test: "a model with tools was not declared, so it is not asked for",
  },
  { id: "C48", says: "Roots are file URIs.", test: "roots are files" },
  {
    id: "C49",
    says: "Questions of a task get no more trust than others.",
    test: "questions in them are looked at as those of rounds are",
  },

  // ---------------------------------------------------------------- transport
  {
    id: "C60",
    says: "The client reads both kinds of response, and skips comments.",
    test: "may be a stream, with comments and what is unknown in it",
  },
  {
    id: "C61",
    says: "The headers have method, version and name; for a task, its id.",
    test: "says in its headers what it is and whose: a task's say its id",
  },
  {
    id: "C62",
    says: "Arguments go into headers according to the newest known schema.",
    test: "what is there, and can be said in a header",
  },
  {
    id: "C63",
    says: "On -32020 the client reads the list of tools and sends the call once more.",
    test: "a refusal for want of a header makes it read the list of tools, once",
  },
  {
    id: "C64",
    says: "Over HTTP the client cancels by closing the stream, over stdio by a notification.",
    test: "one that was given up is closed on the way, and not asked for again",
  },
  {
    id: "C65",
    says: "If a stream breaks off, its request is lost and cannot be resumed.",
    test: "that breaks off is not asked for again: the call may have had its effect",
  },
  {
    id: "C66",
    says: "The client understands 413 and 431.",
    test: "of HTTP %i says that the request is too large",
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
    test: "an era that the server does not speak is never fallen back from in silence",
  },

  // ---------------------------------------------------------------- subscriptions
  {
    id: "C70",
    says: "The client compares what was acknowledged with what it asked for.",
    test: "hints that the server will not give leave polling",
  },
  {
    id: "C71",
    says: "Notifications are matched to their subscription.",
    test: "hints of the client's own subscriptions are the client's",
  },
  {
    id: "C72",
    says: "A subscription that ends without a result may be opened again.",
    test: "hints whose stream breaks off are asked for again, a few times",
  },

  // ---------------------------------------------------------------- tasks
  {
    id: "C80",
    says: "Any tools/call may return a result, questions or a task.",
    test: "a task that asks nothing",
  },
  {
    id: "C81",
    says: "A task is polled at its newest interval.",
    test: "a task goes on at the newest interval, within bounds",
  },
  {
    id: "C82",
    says: "A task is polled until it is over or cancelled.",
    test: "the first end that is seen is the end",
  },
  {
    id: "C83",
    says: "Its id outlives the process.",
    test: "killed at event %i: %s",
  },
  {
    id: "C84",
    says: "The client reads the questions of a task and answers them with tasks/update.",
    test: "questions come out, answers go in, each once",
  },
  {
    id: "C85",
    says: "A key is answered once, however often it is shown.",
    test: "a key is answered once, however often it is shown, and not for another question",
  },
  {
    id: "C86",
    says: "Only open questions are answered.",
    test: "an answer that has arrived is not sent again, though its acknowledgement got lost",
  },
  {
    id: "C87",
    says: "Polling continues after an answer.",
    test: "a key is answered once, however often it is shown, and not for another question",
  },
  {
    id: "C88",
    says: "A task is cancelled by tasks/cancel only, and need not be polled afterwards.",
    test: "one that is cancelled is told so by tasks/cancel, and not asked for any more",
  },
  {
    id: "C89",
    says: "The life of a task is a limit, which is read again each time.",
    test: "a task whose time is long over is given up, though the server says it works",
  },
  {
    id: "C90",
    says: "Notifications may save polls; polling works without them.",
    test: "what is pushed makes it look at once; only the look counts",
  },
  {
    id: "C91",
    says: "A completed task gives its result, a failed one its error, and a cancelled one neither.",
    test: "a tool that says that it failed has a result; one that breaks down has an error",
  },
  {
    id: "C92",
    says: "The keys of rounds and of tasks are independent.",
    test: "the same key before the task and in it is two questions",
  },
  {
    id: "C93",
    says: "A plain callTool may wait for the task.",
    test: "a task is called like any other tool, with a question in it",
  },
  {
    id: "C94",
    says: "A response about another task is refused.",
    test: "is no answer about the task: %s",
  },
  {
    id: "C95",
    says: "The first end that the client sees counts.",
    test: "the first end that is seen is the end",
  },

  // ---------------------------------------------------------------- security, decisions
  {
    id: "D26",
    says: "Keys such as __proto__ are ordinary keys.",
    test: "a key with a bad name is one like any other",
  },
  {
    id: "G19",
    says: "Rounds with and without questions are counted separately, and those without are paced.",
    test: "rounds without end, without questions",
  },
  {
    id: "G20",
    says: "Handlers answer by themselves; without one, the call fails with the question.",
    test: "a question that was not declared is not answered, and is in the error",
  },
  {
    id: "G21",
    says: "Each leg has its own trace context, linked to the first.",
    later: "The client does not send one yet; a custom fetch can.",
  },
  {
    id: "G22",
    says: "A page is never opened again without asking.",
    test: "a page that is asked for again is shown again, and not taken for agreed to",
  },
  {
    id: "G26",
    says: "Without an interval polls are a second apart, growing to ten; never less than a tenth.",
    test: "a task without an interval is polled slower and slower",
  },
  {
    id: "G36",
    says: "A call whose answer was lost is not repeated; reading a task is.",
    test: "that breaks off is not asked for again: the call may have had its effect",
  },
];
