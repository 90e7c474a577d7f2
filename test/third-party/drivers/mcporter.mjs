// The command line of mcporter, which connects anew for each call.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { serve } from "./lines.mjs";

const run = promisify(execFile);
const command = new URL("./node_modules/.bin/mcporter", import.meta.url).pathname;

await serve(async (name, args) => {
  const given = ["call", "--http-url", process.argv[2], "--allow-http", "--tool", name];
  const sent = ["--args", JSON.stringify(args), "--output", "json"];
  const { stdout } = await run(process.execPath, [command, ...given, ...sent]).catch((e) => e);
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
});
