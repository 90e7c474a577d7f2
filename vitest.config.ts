import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import SlowFirst from "./test/run/slow-first.ts";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Files that replace modules, set something for the whole process, count what was told once, or measure the process. The
 * others share the modules that they load, which saves loading them a hundred times.
 */
const apart = [
  "examples/deploy-approval/site.test.ts",
  "src/server/ops/telemetry.test.ts",
  "src/tasks/stores/postgres/postgres-entry.test.ts",
  "test/attack/**/*.test.ts",
  "test/bench/**/*.test.ts",
  "test/console/production.test.ts",
  "test/client-with-tasks/no-effect.test.ts",
  "test/client/one-trace.test.ts",
  "test/digests.test.ts",
  "test/draft/untouched.test.ts",
  "test/hosts/listen.test.ts",
  "test/seeds/final.test.ts",
  "test/seeds/trace-links.test.ts",
];

/** The tests of pages and paused calls, whose answers wait in the store. They run over each store. */
const reach = ["ask-pages", "audit", "left-pages", "paused", "relayed-tasks"].map(
  (name) => `test/wire/${name}.test.ts`,
);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^mcp-parley$/, replacement: source("src/index.ts") },
      { find: /^mcp-parley\/client$/, replacement: source("src/client/index.ts") },
      { find: /^mcp-parley\/testing$/, replacement: source("src/testing/index.ts") },
      { find: /^mcp-parley\/testing\/store$/, replacement: source("src/testing/store/index.ts") },
      { find: /^mcp-parley\/sqlite$/, replacement: source("src/tasks/stores/sqlite/index.ts") },
      { find: /^mcp-parley\/postgres$/, replacement: source("src/tasks/stores/postgres/index.ts") },
      { find: /^mcp-parley\/durable-object$/, replacement: source("src/durable-object/index.ts") },
      { find: /^mcp-parley\/store$/, replacement: source("src/tasks/index.ts") },
      { find: /^mcp-parley\/drafts$/, replacement: source("src/draft/index.ts") },
      { find: /^mcp-parley\/console$/, replacement: source("src/console/index.ts") },
      { find: /^mcp-parley\/oauth$/, replacement: source("src/oauth/index.ts") },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "parley",
          isolate: false,
          include: ["{src,test,examples}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...apart],
        },
      },
      { extends: true, test: { name: "apart", include: apart } },
      {
        // The wire tests run a second time, over the SDK's entry, because both entries must behave alike.
        extends: true,
        test: {
          name: "over the SDK",
          isolate: false,
          env: { PARLEY_TEST_ENTRY: "sdk" },
          include: [
            "answers",
            "auth",
            "envelope",
            "first-request",
            "hostile-requests",
            "legacy-tasks",
            "legacy",
            "mishaps",
            "notifications",
            "pages",
            "rounds",
            "shedding",
            "streaming",
            "task-input",
            "task-listen",
            "task-phases",
            "task-principals",
            "task-streaming",
            "tasks",
            "token",
          ]
            .map((name) => `test/wire/${name}.test.ts`)
            .concat("test/hosts/listen.test.ts"),
        },
      },
      ...["sqlite", "postgres"].map((store) => ({
        extends: true as const,
        test: {
          name: `over ${store}`,
          isolate: false,
          env: { PARLEY_TEST_STORE: store },
          include: reach,
        },
      })),
    ],
    // One compiled copy of the programs that tests start, and one Postgres server, for the whole run.
    globalSetup: source("test/run/setup.ts"),
    reporters: ["default", source("scripts/closing-line.ts")],
    // The tests of processes and stores wait more than they compute. By default, vitest uses one worker on two cores. Each
    // worker loads the modules again, so more of them cost more than they gain.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: SlowFirst },
    // How long a test may take on a busy machine. A test that passes is not slowed down by this.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A busy machine may need longer than the default of one second.
    expect: { poll: { timeout: 30_000 } },
    silent: "passed-only",
  },
});
