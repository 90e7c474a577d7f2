#!/usr/bin/env node
// The command. The only file that reads argv, prints and exits.

import process from "node:process";
import { newKey } from "../token/keyring.ts";

const help = `mcp-parley keys new [id]   make a key for PARLEY_KEYS

The first key of PARLEY_KEYS seals, all open: to rotate, put the new one first after every instance knows it.

  export PARLEY_KEYS="$(npx mcp-parley keys new 2026-11)"
`;

const [group, verb, id] = process.argv.slice(2);
if (group === "keys" && verb === "new") {
  try {
    process.stdout.write(`${newKey(id)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
} else if (group === undefined || group === "--help" || group === "-h") {
  process.stdout.write(help);
} else {
  process.stderr.write(`Unknown command: ${process.argv.slice(2).join(" ")}\n\n${help}`);
  process.exitCode = 2;
}
