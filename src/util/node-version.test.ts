// Which versions of Node the package accepts.

import process from "node:process";
import { expect, test } from "vitest";
import { nodeProblem } from "./node-version.ts";

test.each(["18.20.8", "20.0.0", "20.18.3"])("Node %s is too old", (version) => {
  expect(nodeProblem(version)).toBe(
    `mcp-parley needs Node.js 20.19 or newer, and this is ${version}. Install a newer one from https://nodejs.org.`,
  );
});

test.each(["20.19.0", "22.0.0", "26.1.0", process.versions.node, undefined])(
  "%s is fine",
  (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  },
);
