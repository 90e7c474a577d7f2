// A statement of a document, in our words, and the test that shows it or the reason why there is none.

export interface Row {
  readonly heading: string;
  readonly says: string;
  readonly fate: Fate;
  /** Not a statement of the document, but what Parley does instead, or in addition. Not counted. */
  readonly isOurs: boolean;
}

export type Fate =
  /** The tests that show it. */
  | { readonly shown: readonly Citation[] }
  /** The final specification differs. Says how, with a reference. */
  | { readonly superseded: string }
  /** The final specification allows it, and Parley chose something else. Says what, and why, with a reference. */
  | { readonly chosen: string }
  /** Planned for later. */
  | { readonly later: string };

export interface Citation {
  readonly file: string;
  /** The title, without the requirements in brackets at its end. */
  readonly title: string;
}

type Statement = readonly [says: string, fate: Fate, isOurs?: true];

export const under = (heading: string, ...statements: readonly Statement[]): Row[] =>
  statements.map(([says, fate, isOurs = false]) => ({ heading, says, fate, isOurs }));

/** What Parley does instead of the statement before it, or in addition. */
export const ours = (says: string, fate: Fate): Statement => [says, fate, true];

export const by = (file: string, ...titles: readonly string[]): Fate & { shown: Citation[] } => ({
  shown: titles.map((title) => ({ file, title })),
});

export const and = (...all: readonly { readonly shown: readonly Citation[] }[]): Fate => ({
  shown: all.flatMap(({ shown }) => shown),
});

export const superseded = (why: string): Fate => ({ superseded: why });
export const chosen = (what: string): Fate => ({ chosen: what });
export const later = (why: string): Fate => ({ later: why });

// ---------------------------------------------------------------- where the tests are

const wire = (name: string) => `test/wire/${name}.test.ts`;
const seeds = (name: string) => `test/seeds/${name}.test.ts`;

export const at = {
  answers: wire("answers"),
  auth: wire("auth"),
  envelope: wire("envelope"),
  keys: wire("keys"),
  legacy: wire("legacy"),
  legacyTasks: wire("legacy-tasks"),
  mishaps: wire("mishaps"),
  notifications: wire("notifications"),
  pages: wire("pages"),
  relayedTasks: wire("relayed-tasks"),
  everyWay: "test/reach/every-way.test.ts",
  rounds: wire("rounds"),
  shedding: wire("shedding"),
  stdio: wire("stdio"),
  streaming: wire("streaming"),
  taskStreaming: wire("task-streaming"),
  tasks: wire("tasks"),
  taskInput: wire("task-input"),
  taskListen: wire("task-listen"),
  taskPhases: wire("task-phases"),
  taskReplicas: wire("task-replicas"),
  token: wire("token"),
  carriers: "test/interop/carriers.test.ts",
  extTasks: "test/interop/ext-tasks.test.ts",
  v1Tasks: "test/interop/v1-tasks.test.ts",
  eras: "test/client/eras.test.ts",
  strangers: "test/client/strangers.test.ts",
  withTasks: "test/client-with-tasks/oven.test.ts",
  clientRounds: "src/client/rounds.test.ts",
  clientTask: "src/client/task.test.ts",
  clientHostile: "src/client/hostile.test.ts",
  clientForm: "src/client/check-answer.test.ts",
  resume: "src/client/resume.test.ts",
  round: "src/server/round/round.test.ts",
  serverTasks: "src/server/tasks/tasks.test.ts",
  telemetry: "src/server/ops/telemetry.test.ts",
  engine: "src/tasks/engine.test.ts",
  seal: "src/token/seal.test.ts",
  kit: "src/testing/kit.test.ts",
  examples: "examples/examples.test.ts",
  tools: "examples/seeds/seeds.test.ts",
  undoing: "examples/undo/tool.test.ts",
  printed: seeds("printed"),
  final: seeds("final"),
  draft: seeds("draft"),
  draftClient: "test/draft/client.test.ts",
  draftTasks: "test/draft/tasks.test.ts",
  draftRounds: "test/draft/rounds.test.ts",
  draftOff: "test/draft/off.test.ts",
  csharp: seeds("csharp-page"),
  mcpkit: seeds("mcpkit"),
  types: seeds("response-types"),
  links: seeds("trace-links"),
} as const;
