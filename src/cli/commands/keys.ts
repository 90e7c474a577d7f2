// `parley keys new` and `parley keys rotate`: creates keys, and plans a rotation.

import { errorText } from "../../util/error-text.ts";
import { newKey } from "../../token/keyring.ts";
import type { Command, Io } from "../command.ts";
import { UsageError } from "../command.ts";
import { givenKeys, keyringOf } from "../doctor/available-keys.ts";
import type { AvailableKeys } from "../doctor/available-keys.ts";
import { parseOptions } from "../args/command-line.ts";

/** `parley keys` */
export const keys: Command = {
  help: `Creates a key for PARLEY_KEYS, or plans the change to a new one.

Usage
  parley keys new [id]
  parley keys rotate [id] [--keys-file <file>] [--json]

"new" prints a key. Give the same key to every instance of a server.

"rotate" reads the current PARLEY_KEYS, creates a key, and prints the value of
PARLEY_KEYS for each of the three steps of a rotation, and when to take each
step. The first key seals, and every key opens. No call and no task is lost,
because the old keys stay until the last step. The command changes nothing.

Options
  id                   a name for the new key (default: today's date)
  --keys-file <file>   read the current keys from this file
  --json               {"id", "steps": [{"when", "keys"}]}

Examples
  export PARLEY_KEYS="$(npx mcp-parley keys new 2026-11)"
  npx mcp-parley keys rotate 2026-12

Exit codes
  0 done, 1 failed, 2 usage error
`,
  run: (args, io) => {
    const { values, positionals } = parseOptions("keys", args, {
      "keys-file": { type: "string" },
      json: { type: "boolean" },
    });
    const [verb, id, ...rest] = positionals;
    if (rest.length > 0) throw new UsageError("keys: pass at most one id");
    if (verb === "new") return io.out(`${keyNamed(id ?? unusedId([]))}\n`);
    if (verb !== "rotate") throw new UsageError("keys: use `keys new` or `keys rotate`");
    const present = givenKeys(values, io.env);
    if (present === undefined) {
      throw new UsageError("keys: no current keys to rotate. Set PARLEY_KEYS, or pass --keys-file");
    }
    return rotate(present, id, values.json === true, io);
  },
};

function rotate(
  { text, from }: AvailableKeys,
  id: string | undefined,
  isJson: boolean,
  { out }: Io,
): void {
  const known = [...keyringOf({ text, from }).opening.keys()];
  const present = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const fresh = keyNamed(id ?? unusedId(known));
  const [name = ""] = fresh.split(":");
  if (known.includes(name))
    throw new UsageError(`keys: the key "${name}" exists. Choose another id`);
  const steps = [
    {
      when: `1. Now, on every instance: "${known[0]}" still seals, and every instance can open "${name}".`,
      keys: [...present, fresh],
    },
    {
      when: `2. When every instance has the value of step 1: "${name}" seals from now on.`,
      keys: [fresh, ...present],
    },
    {
      when: `3. When everything that was sealed before step 2 has expired: after 11 minutes for\n   calls, or 7 days with tasks (limits.tokenTtlMs and limits.taskTtlMs, if you set them).`,
      keys: [fresh],
    },
  ].map((step) => ({ when: step.when, keys: step.keys.join(",") }));
  if (isJson) return out(`${JSON.stringify({ id: name, steps })}\n`);
  return out(
    steps
      .map((step) => `# ${step.when.replaceAll("\n", "\n# ")}\nPARLEY_KEYS="${step.keys}"\n`)
      .join("\n"),
  );
}

function unusedId(known: readonly string[]): string {
  const today = new Date().toISOString().slice(0, 10);
  let id = today;
  for (let again = 2; known.includes(id); again += 1) id = `${today}-${again}`;
  return id;
}

function keyNamed(id: string): string {
  try {
    return newKey(id);
  } catch (error) {
    throw new UsageError(errorText(error));
  }
}
