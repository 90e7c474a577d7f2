// Which entry the HTTP tests use: the fast one, or the SDK's in the project that runs them a second time
// (vitest.config.ts).

import process from "node:process";
import type { ListenOptions } from "mcp-parley";

const entry: { readonly fast: boolean } = {
  fast: process.env["PARLEY_TEST_ENTRY"] !== "sdk",
};

/** For `app.listen`. */
export const overEntry = (options: ListenOptions = {}): ListenOptions => ({ ...options, ...entry });
