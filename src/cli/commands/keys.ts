// `parley keys new` and `parley keys rotate`

import { errorText } from "../../util/error-text.ts";
import { newKey, parseKeys } from "../../token/keyring.ts";
import type { Command, Io } from "../command.ts";
import { Usage } from "../command.ts";
import { keysAtHand } from "../doctor/keys-at-hand.ts";
import { parsed } from "../args/parsed.ts";

export const keys: Command = {
  help: `parley keys new [id]
parley keys rotate [id] [--keys-file <file>]

"new" prints a key for PARLEY_KEYS. Every instance of a server needs the same.

"rotate" takes the present PARLEY_KEYS, makes a new key, and prints what
PARLEY_KEYS is to be in each of the three steps of a rotation, with what to do
when. The first key seals, all open: so no call and no task is lost on the way,
and no key is dropped before the last step. It changes nothing by itself.

  id                   a name for the key; a date is a good one (default: today)
  --keys-file <file>   the present keys are in this file
  --json               for a program: { "id", "steps": [{ "when", "keys" }] }

  export PARLEY_KEYS="$(npx mcp-parley keys new 2026-11)"
  npx mcp-parley keys rotate 2026-12
`,
  run: (args, io) => {
    const { values, positionals } = parsed("keys", args, {
      "keys-file": { type: "string" },
      json: { type: "boolean" },
    });
    const [verb, id, ...rest] = positionals;
    if (rest.length > 0) throw new Usage("keys: one id is enough");
    if (verb === "new") return io.out(`${keyNamed(id)}\n`);
    if (verb !== "rotate") throw new Usage("keys: it is `keys new` or `keys rotate`");
    const present = keysAtHand(values, io.env);
    if (present === undefined) {
      throw new Usage("keys: there is nothing to rotate: set PARLEY_KEYS, or pass --keys-file");
    }
    return rotate(present.text, id, values.json === true, io);
  },
};

function rotate(text: string, id: string | undefined, isJson: boolean, { out }: Io): void {
  const known = [...parseKeys(text).opening.keys()];
  const present = text.split(/[\s,]+/).filter((entry) => entry !== "");
  const fresh = keyNamed(id ?? unusedId(known));
  const [name = ""] = fresh.split(":");
  if (known.includes(name)) throw new Usage(`keys: there is a key "${name}" already; name another`);
  const steps = [
    {
      when: `1. Now, on every instance: "${known[0]}" still seals, and all can open "${name}".`,
      keys: [...present, fresh],
    },
    {
      when: `2. When every instance has the first: "${name}" seals from here on.`,
      keys: [fresh, ...present],
    },
    {
      when: `3. When nothing sealed before step 2 is left: 11 minutes for calls, 7 days where\n   there are tasks (limits.tokenTtlMs and limits.taskTtlMs, if you have set them).`,
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

function keyNamed(id: string | undefined): string {
  try {
    return newKey(id);
  } catch (error) {
    throw new Usage(errorText(error));
  }
}
