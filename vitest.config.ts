import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^mcp-parley$/, replacement: source("src/index.ts") },
      { find: /^mcp-parley\/testing$/, replacement: source("src/testing/index.ts") },
    ],
  },
  test: {
    include: ["{src,test,examples}/**/*.test.ts"],
    reporters: ["default", source("scripts/closing-line.ts")],
    testTimeout: 20_000,
    silent: "passed-only",
  },
});
