import { defineConfig, mergeConfig } from "vitest/config";
import whole from "../../vitest.config.ts";

const { test: _tests, ...rest } = whole as { readonly test?: unknown };

// Apart from `npm test`, because it needs a browser that npm does not install.
export default mergeConfig(
  rest,
  defineConfig({
    test: { include: ["test/browser/*.browser.ts"], testTimeout: 300_000, hookTimeout: 300_000 },
  }),
);
