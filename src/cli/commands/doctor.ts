// `parley doctor`: checks a setup and says what to fix.

import { connect } from "../../client/index.ts";
import type { ConnectOptions } from "../../client/index.ts";
import { parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { exit, UsageError } from "../command.ts";
import type { Command, Io } from "../command.ts";
import { lineOf, notChecked, reasonOf, wrong } from "../doctor/finding.ts";
import type { Finding } from "../doctor/finding.ts";
import { keysFinding, nodeFinding } from "../doctor/environment-findings.ts";
import { availableKeys } from "../doctor/available-keys.ts";
import type { KeysGiven } from "../doctor/available-keys.ts";
import {
  clockFinding,
  clockOf,
  offerFindings,
  readyFinding,
  replicaClocksFinding,
} from "../doctor/server-findings.ts";
import type { ClockOffset } from "../doctor/server-findings.ts";
import { sharedKeysFindings } from "../doctor/shared-keys-findings.ts";
import type { Replica, Trial } from "../doctor/shared-keys-findings.ts";
import { storeFindings } from "../doctor/store-findings.ts";
import { asTyped } from "../own-name.ts";
import { plainJson } from "../screen/plain.ts";
import { parseOptions } from "../args/command-line.ts";
import { parseTarget } from "../server/target.ts";
import { accessOf, accessOptions } from "../server/access.ts";

/** `parley doctor` */
export const doctor: Command = {
  help: `Checks a setup and says what to fix.

Usage
  parley doctor [<url> …] [--store <store>] [--tool <name> --arg k=v …]

It checks Node and the keys on this machine. It checks that each server
responds, is ready and has the right time, and shows what the server offers. It
also compares the clocks of the servers with each other. It checks that a store
can be reached, has its tables and a worker, and that its newest records are
sealed with the keys on this machine. Without --tool it changes nothing.

To check that replicas share their keys, one of them has to open what another
has sealed. Pass the URLs of the replicas, and --tool. This calls the tool once,
on the first replica, up to its first question. What it does before that really
happens, and if it becomes a task, the task is cancelled. So pass a tool that
asks before it does anything. If there is none, use --store with the keys of
each replica instead, which calls nothing.

Options
  --store <store>         postgres://… or a SQLite file
  --schema NAME           Postgres: the schema of its tables (default: parley)
  --tool <name>           call this tool for the check of shared keys
  --arg k=v               an argument of that tool; can be repeated
  --key <keys>            use these keys instead of PARLEY_KEYS
  --keys-file <file>      use the keys in this file
  --header 'name: value'  a header of every request; can be repeated
  --token <token>         a bearer token (or PARLEY_TOKEN)
  --json                  {"ok", "findings": [{"about", "state", "text"}]}

Examples
  parley doctor http://127.0.0.1:3000/mcp
  parley doctor http://10.0.0.1:3000/mcp http://10.0.0.2:3000/mcp \\
    --tool book_table --arg guests=2
  parley doctor --store "$DATABASE_URL" --json

Exit codes
  0 nothing is wrong, 1 something is wrong, 2 usage error
`,
  run: async (args, io) => {
    const { values, positionals } = parseOptions("doctor", args, {
      header: accessOptions.header,
      token: accessOptions.token,
      json: accessOptions.json,
      key: { type: "string" },
      "keys-file": { type: "string" },
      store: { type: "string" },
      schema: { type: "string" },
      tool: { type: "string" },
      arg: { type: "string", multiple: true },
    });
    const urls = positionals.map(urlOf);
    const findings: Finding[] = [];
    const add = (...found: readonly Finding[]) => {
      findings.push(...found);
      if (values.json !== true)
        for (const one of found) io.out(`${asTyped(lineOf(one), io.env)}\n`);
    };
    add(nodeFinding(), keysFinding(values, io.env));
    const { tool, arg = [], store, schema } = values;
    const trial = tool === undefined ? undefined : { tool, words: arg };
    const keyring = keyringOf(values, io.env);
    if (urls.length > 0) {
      await examine(urls, accessOf(values, io), trial, keyring, add);
    }
    if (store !== undefined) add(...(await storeFindings(store, schema, keyring)));
    const isFine = findings.every(({ state }) => state !== "wrong");
    if (values.json === true) io.out(`${plainJson({ ok: isFine, findings })}\n`);
    return isFine ? exit.done : exit.failed;
  },
};

const howToCheck =
  "pass a tool that asks before it does anything, which is then called: --tool <name>. Or compare the keys with those of the store: --store.";

function urlOf(typed: string): string {
  const target = parseTarget(typed, []);
  if (target.kind === "url") return target.url;
  throw new UsageError(
    `doctor: "${typed}" is not a URL. Start the server, then pass the URL it listens on.`,
  );
}

/** Undefined if there are none or they are wrong, which `keysFinding` reports. */
function keyringOf(given: KeysGiven, env: Io["env"]): Keyring | undefined {
  try {
    const keys = availableKeys(given, env);
    return keys === undefined ? undefined : parseKeys(keys.text);
  } catch {
    return undefined;
  }
}

async function examine(
  urls: readonly string[],
  options: ConnectOptions,
  trial: Trial | undefined,
  keyring: Keyring | undefined,
  add: (...found: readonly Finding[]) => void,
): Promise<void> {
  const replicas: Replica[] = [];
  const clocks: { url: string; clock: ClockOffset | undefined }[] = [];
  try {
    for (const url of urls) {
      const which = urls.length === 1 ? "" : ` (${new URL(url).host})`;
      const named = (found: Finding): Finding => ({ ...found, text: `${found.text}${which}` });
      try {
        const connection = await connect(url, options);
        replicas.push({ url, connection });
        add(...(await offerFindings(connection)).map(named));
        add(named(await readyFinding(url)));
        const clock = await clockOf(url);
        clocks.push({ url, clock });
        add(named(clockFinding(clock)));
      } catch (error) {
        add(named(wrong("server", reasonOf(error))));
      }
    }
    add(...replicaClocksFinding(clocks));
    if (trial !== undefined) add(...(await sharedKeysFindings(replicas, trial, keyring)));
    else add(notChecked("shared keys", howToCheck));
  } finally {
    for (const { connection } of replicas) await connection.close();
  }
}
