// What a client does with a server of another project, in either direction, and how each call has to end.

import { tutorialToParley, tutorialToPeer } from "./tutorial-errands.ts";

export interface Answer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, string | number | boolean>>;
}

/** One call, as the client's program gets it. */
export interface Errand {
  /** The version of the protocol, or that on which both sides agree. */
  readonly era?: "2026-07-28" | "2025-11-25";
  readonly tool?: string;
  readonly prompt?: string;
  readonly resource?: string;
  readonly arguments?: Readonly<Record<string, string | number>>;
  /** By the wording of the question, because a 2025-11-25 client does not learn the keys. */
  readonly answers?: Readonly<Record<string, Answer>>;
  /** Asks for progress, and waits until this much was reported. */
  readonly progress?: number;
  /** Asks for the parts of what the call streams, if the client can read the notifications of an extension. */
  readonly stream?: boolean;
  /** Follows the task to its end, subscribes to it as well, or cancels it once it exists. */
  readonly task?: "follow" | "listen" | "cancel";
  /** What the client does wrong: it declares nothing, answers under another key first, or changes the state. */
  readonly slip?: "no capabilities" | "wrong key" | "altered state";
}

export interface Outcome {
  readonly text: string;
  readonly isError?: boolean;
  /** The last that was reported. */
  readonly progress?: number;
  /** The text that the parts make, if the client could ask for parts. */
  readonly streamed?: string;
  /** What the peer's SDK has no API for, so that nothing was sent. */
  readonly absent?: string;
  readonly error?: { readonly code?: number | string; readonly message: string };
}

export interface Job {
  readonly errand: Errand;
  readonly ends: Outcome;
}

const accept = (content: Answer["content"] = {}): Answer => ({ action: "accept", content });
const modern = { era: "2026-07-28" } as const;
const legacy = { era: "2025-11-25" } as const;

const name = { tool: "ask_name", answers: { "Your name?": accept({ name: "Ada" }) } };
const trip = {
  tool: "book_trip",
  arguments: { to: "Turin" },
  answers: {
    "3 trains to Turin. Who travels?": accept({ name: "Ada", seats: 2 }),
    "How does Ada travel?": accept({ by: "Night train" }),
    "Book 2 seats by Night train?": accept(),
  },
};
const tripEnds = {
  text: "Ada, 2 seats, Night train, booked, “A motto for a trip to Turin, said the model”, filed in file:///home/ada",
};
const wizard = {
  tool: "wizard",
  answers: { "Name?": accept({ name: "Ada" }), "Age?": accept({ age: 36 }) },
};
const signIn = { tool: "sign_in", answers: { "Sign in": { action: "accept" } } } as const;
const letter = {
  prompt: "letter",
  arguments: { tone: "stern" },
  answers: { "To whom?": accept({ to: "Byron" }) },
};
const today = { resource: "diary://today", answers: { "Which mood?": accept({ mood: "good" }) } };
const compute = { tool: "slow_compute", arguments: { seconds: 0.02, label: "pi" } };
const erase = {
  tool: "confirm_delete",
  arguments: { filename: "x.txt" },
  answers: { "Delete x.txt?": accept({ confirm: true }) },
};
const introduced = {
  tool: "test_tool_with_task",
  answers: { "What is your name?": accept({ name: "Ada" }) },
};

const greet = { tool: "greet", arguments: { name: "Ada" } };
const hello = { text: "Hello, Ada!" };
const erased = { text: "x.txt is deleted." };

/** The jobs that are the same in both directions. */
const common = {
  plain: { errand: { ...modern, ...greet }, ends: hello },
  form: { errand: { ...modern, ...name }, ends: hello },
  together: {
    errand: { ...modern, tool: "together", answers: name.answers },
    ends: { text: "Ada in Name a place, said the model" },
  },
  roots: { errand: { ...modern, tool: "where" }, ends: { text: "file:///home/ada" } },
  url: { errand: { ...modern, ...signIn }, ends: { text: "signed in" } },
  prompt: { errand: { ...modern, ...letter }, ends: { text: "Write a stern letter to Byron." } },
  resource: { errand: { ...modern, ...today }, ends: { text: "a good day" } },
  progress: {
    errand: { ...modern, tool: "count", progress: 2 },
    ends: { text: "counted", progress: 2 },
  },
  stream: {
    errand: { ...modern, tool: "write", stream: true },
    ends: { text: "Dear Ada", streamed: "Dear Ada" },
  },
  task: { errand: { ...modern, ...compute, task: "follow" }, ends: { text: "pi took 0.02 s" } },
  "task-asks": { errand: { ...modern, ...erase, task: "follow" }, ends: erased },
  "task-after-round": {
    errand: { ...modern, ...introduced, task: "follow" },
    ends: { text: "Hello, Ada, from the background." },
  },
  "task-push": { errand: { ...modern, ...erase, task: "listen" }, ends: erased },
  "task-cancel": {
    errand: { ...modern, tool: "slow_compute", arguments: { seconds: 600 }, task: "cancel" },
    ends: { text: "cancelled" },
  },
  "legacy-plain": { errand: { ...legacy, ...greet }, ends: hello },
  "legacy-stream": {
    errand: { ...legacy, tool: "write", stream: true },
    ends: { text: "Dear Ada", streamed: "Dear Ada" },
  },
  "legacy-form": { errand: { ...legacy, ...name }, ends: hello },
  "legacy-url": { errand: { ...legacy, ...signIn }, ends: { text: "signed in" } },
} satisfies Record<string, Job>;

/** What their client does with our server. */
export const toParley: Readonly<Record<string, Job>> = {
  ...common,
  declined: {
    errand: { ...modern, ...name, answers: { "Your name?": { action: "decline" } } },
    ends: { text: 'Question "name" was declined.', isError: true },
  },
  "roots-bare": { errand: { ...modern, tool: "where_bare" }, ends: { text: "file:///home/ada" } },
  rounds: {
    errand: { ...modern, ...wizard },
    ends: { text: "Ada is 36; last asked for the age" },
  },
  "stream-line": {
    errand: { ...modern, tool: "announce", progress: 0.000001 },
    ends: { text: "Hear, hear", progress: 0.000001 },
  },
  "state-only": { errand: { ...modern, tool: "import_rows" }, ends: { text: "imported" } },
  "legacy-rounds": { errand: { ...legacy, ...trip }, ends: tripEnds },
  ...tutorialToParley,
};

/** What our client does with their server. */
export const toPeer: Readonly<Record<string, Job>> = {
  ...common,
  declined: {
    errand: { ...modern, ...name, answers: { "Your name?": { action: "decline" } } },
    ends: { text: "Hello, decline!" },
  },
  rounds: { errand: { ...modern, ...wizard }, ends: { text: "Ada is 36" } },
  "legacy-rounds": { errand: { ...legacy, ...wizard }, ends: { text: "Ada is 36" } },
  ...tutorialToPeer,
};

/** The jobs that the official client does as well, with `withTasks`. */
export const ofWithTasks = [
  "plain",
  "form",
  "rounds",
  "stream",
  "task",
  "task-asks",
  "task-after-round",
  ...Object.entries<Job>(tutorialToPeer).flatMap(([capability, { errand }]) =>
    errand.progress === undefined ? [capability] : [],
  ),
];
