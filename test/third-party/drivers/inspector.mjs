// The command line of the Inspector, which connects anew for each call.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { serve } from "./lines.mjs";

const run = promisify(execFile);

await serve(async (name, args) => {
  const given = Object.entries(args).flatMap(([key, value]) => [
    "--tool-arg",
    `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  const { stdout } = await run(process.execPath, [
    new URL("./node_modules/.bin/mcp-inspector", import.meta.url).pathname,
    "--cli",
    process.argv[2],
    "--transport",
    "http",
    "--method",
    "tools/call",
    "--tool-name",
    name,
    ...given,
  ]).catch((error) => error);
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
});
