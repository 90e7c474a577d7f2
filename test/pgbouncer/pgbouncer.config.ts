import { defineConfig, mergeConfig } from "vitest/config";
import whole from "../../vitest.config.ts";

const { test: _tests, ...rest } = whole as { readonly test?: unknown };

// Apart from `npm test`, because npm cannot install PgBouncer.
export default mergeConfig(
  rest,
  defineConfig({
    test: {
      include: ["test/pgbouncer/*.pooled.ts"],
      testTimeout: 600_000,
      hookTimeout: 600_000,
    },
  }),
);
