#!/usr/bin/env node
// The entry of the command. It imports everything else only when it knows that this Node can load it. Otherwise an old
// Node would complain about a missing export before a line of this file runs.

import process from "node:process";
import { nodeProblem } from "../util/node-version.ts";

const problem = nodeProblem(process.versions.node);
if (problem === undefined) await run();
else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const [{ terminal }, { dispatch }] = await Promise.all([
    import("./command.ts"),
    import("./dispatch.ts"),
  ]);
  const { code, endsProcess } = await dispatch(process.argv.slice(2), terminal);
  process.exitCode = code;
  if (endsProcess) process.stdout.write("", () => process.stderr.write("", () => process.exit()));
}
