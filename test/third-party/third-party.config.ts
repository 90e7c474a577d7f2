import { defineConfig, mergeConfig } from "vitest/config";
import whole from "../../vitest.config.ts";

const { test: _tests, ...rest } = whole as { readonly test?: unknown };

// Apart from `npm test`, because it installs clients from npm and PyPI.
export default mergeConfig(
  rest,
  defineConfig({
    test: {
      include: ["test/third-party/*.clients.ts"],
      testTimeout: 900_000,
      hookTimeout: 900_000,
    },
  }),
);
