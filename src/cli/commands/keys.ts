// `mcp-parley keys new [id]`

import { newKey } from "../../token/keyring.ts";
import type { Command } from "../command.ts";
import { Usage } from "../command.ts";

export const keys: Command = {
  summary: "keys new [id]                 make a key for PARLEY_KEYS",
  help: `mcp-parley keys new [id]

Prints a new key for PARLEY_KEYS. The first key of PARLEY_KEYS seals, all open: to rotate, put the new one first
after every instance knows it, and take the old one out when nothing sealed with it is left (tokens: minutes;
tasks: their time to live).

  export PARLEY_KEYS="$(npx mcp-parley keys new 2026-11)"
`,
  run: ([verb, id, ...rest], print) => {
    if (verb !== "new" || rest.length > 0) throw new Usage("keys: only `keys new [id]` is known");
    try {
      print(`${newKey(id)}\n`);
    } catch (error) {
      throw new Usage(error instanceof Error ? error.message : String(error));
    }
  },
};
