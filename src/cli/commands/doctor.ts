// `parley doctor`: what is wrong with a setup, and what to do about it.

import { connect } from "../../client/index.ts";
import type { ConnectOptions } from "../../client/index.ts";
import { parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { exit, Usage } from "../command.ts";
import type { Command, Io } from "../command.ts";
import { lineOf, notChecked, reasonOf, wrong } from "../doctor/finding.ts";
import type { Finding } from "../doctor/finding.ts";
import { keysFinding, nodeFinding } from "../doctor/here.ts";
import { keysAtHand } from "../doctor/keys-at-hand.ts";
import type { KeysGiven } from "../doctor/keys-at-hand.ts";
import { clockFinding, offerFindings, readyFinding } from "../doctor/server.ts";
import { sharedKeysFindings } from "../doctor/shared-keys.ts";
import type { Replica, Trial } from "../doctor/shared-keys.ts";
import { storeFindings } from "../doctor/store.ts";
import { plainJson } from "../screen/plain.ts";
import { parsed } from "../args/parsed.ts";
import { placeFrom } from "../server/place.ts";
import { accessOf, accessOptions } from "../server/access.ts";

export const doctor: Command = {
  help: `parley doctor [<url> …] [--store <store>] [--tool <name> --arg k=v …]

Looks at Node and the keys here; at each server: whether it is there, ready, on
time, and what it offers; at a store: whether it can be reached, has its tables,
and somebody works on it. Nothing is changed. Each line says what to do.

Whether replicas share their keys shows when one opens what another has sealed.
That takes a call: name the replicas, and a tool that asks and may be begun. It
is begun once, on the first, and left at its first question.

  --store <store>         postgres://… or a SQLite file; --schema NAME
  --tool <name>           for the shared keys, with --arg k=v for its arguments
  --key <keys>, --keys-file <file>      instead of PARLEY_KEYS
  --header 'name: value', --token <token>   sent with every request
  --json                  {"ok", "findings": [{"about", "state", "text"}]}

  parley doctor http://127.0.0.1:3000/mcp
  parley doctor http://10.0.0.1:3000/mcp http://10.0.0.2:3000/mcp \\
    --tool book_table --arg guests=2
  parley doctor --store "$DATABASE_URL" --json

Exits with 1 if anything is wrong.
`,
  run: async (args, io) => {
    const { values, positionals } = parsed("doctor", args, {
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
      if (values.json !== true) for (const one of found) io.out(`${lineOf(one)}\n`);
    };
    add(nodeFinding(), keysFinding(values, io.env));
    const { tool, arg = [], store, schema } = values;
    const trial = tool === undefined ? undefined : { tool, words: arg };
    if (urls.length > 0) {
      const keyring = keyringOf(values, io.env);
      await examine(urls, accessOf(values, io), trial, keyring, add);
    }
    if (store !== undefined) add(...(await storeFindings(store, schema)));
    const isFine = findings.every(({ state }) => state !== "wrong");
    if (values.json === true) io.out(`${plainJson({ ok: isFine, findings })}\n`);
    return isFine ? exit.done : exit.failed;
  },
};

function urlOf(target: string): string {
  const place = placeFrom(target, []);
  if (place.kind === "url") return place.url;
  throw new Usage(`doctor: ${target} is no URL. Start the server, and name where it listens.`);
}

/** What is wrong with them is said elsewhere. */
function keyringOf(given: KeysGiven, env: Io["env"]): Keyring | undefined {
  try {
    const keys = keysAtHand(given, env);
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
  try {
    for (const url of urls) {
      const which = urls.length === 1 ? "" : ` (${new URL(url).host})`;
      const named = (found: Finding): Finding => ({ ...found, text: `${found.text}${which}` });
      try {
        const connection = await connect(url, options);
        replicas.push({ url, connection });
        add(...(await offerFindings(connection)).map(named));
        add(named(await readyFinding(url)), named(await clockFinding(url)));
      } catch (error) {
        add(named(wrong("server", reasonOf(error))));
      }
    }
    if (trial !== undefined) add(...(await sharedKeysFindings(replicas, trial, keyring)));
    else add(notChecked("shared keys", "name a tool that asks and may be begun: --tool <name>."));
  } finally {
    for (const { connection } of replicas) await connection.close();
  }
}
