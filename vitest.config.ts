import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^mcp-parley$/, replacement: source("src/index.ts") },
      { find: /^mcp-parley\/client$/, replacement: source("src/client/index.ts") },
      { find: /^mcp-parley\/testing$/, replacement: source("src/testing/index.ts") },
      { find: /^mcp-parley\/sqlite$/, replacement: source("src/tasks/stores/sqlite/index.ts") },
      { find: /^mcp-parley\/postgres$/, replacement: source("src/tasks/stores/postgres/index.ts") },
      { find: /^mcp-parley\/store$/, replacement: source("src/tasks/index.ts") },
      { find: /^mcp-parley\/drafts$/, replacement: source("src/draft/index.ts") },
    ],
  },
  test: {
    include: ["{src,test,examples}/**/*.test.ts"],
    reporters: ["default", source("scripts/closing-line.ts")],
    testTimeout: 20_000,
    silent: "passed-only",
  },
});
