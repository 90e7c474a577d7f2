// Where the package makes pages, it renders them without preact.

import { join } from "node:path";
import type { Plugin } from "esbuild";

/** Replaces preact and its renderer with src/ui/still-elements.ts. */
export const withoutPreact = (source: string): Plugin => ({
  name: "pages without preact",
  setup: (bundler) => {
    bundler.onResolve({ filter: /^preact(-render-to-string)?$/ }, () => ({
      path: join(source, "ui/still-elements.ts"),
    }));
  },
});
