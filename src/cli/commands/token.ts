// `parley token inspect`: what a requestState holds, for whoever has the key.

import { text as read } from "node:stream/consumers";
import process from "node:process";
import type { Entry } from "../../replay/journal.ts";
import { unpackState } from "../../server/round/state.ts";
import type { CallState, PackedState } from "../../server/round/state.ts";
import { decodeHead, decodeState } from "../../token/claims.ts";
import type { Head } from "../../token/claims.ts";
import { read as open } from "../../token/format.ts";
import { parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { unpack } from "../../token/payload.ts";
import { duration, size } from "../screen/amounts.ts";
import { exit, Usage } from "../command.ts";
import type { Command } from "../command.ts";
import { isReference, readReference } from "../journal/reference.ts";
import { keysAtHand } from "../doctor/keys-at-hand.ts";
import { parsed } from "../args/parsed.ts";
import { plainJson, plainLine } from "../screen/plain.ts";

export const token: Command = {
  help: `parley token inspect <token | reference | -> [--values] [--json]

Opens a requestState with the server's key and says what is in it: whose it is,
how far the call is, how long it is good for, what is recorded, what is asked. A
reference of \`parley call\` or of the client does as well. "-" reads it from
standard input, which keeps it out of the shell's history.

It takes the keys of PARLEY_KEYS, or of .parley/keys in this folder.

  --key <keys>         these keys instead
  --keys-file <file>   the keys in this file
  --values             also the values: answers and results may be secret
  --json               for a program

  parley token inspect - < token.txt
  PARLEY_KEYS=… parley token inspect v1.2026-11.Xk3… --values

Exits with 1 where it does not open, or has expired, and says which it is.
`,
  run: async (args, io) => {
    const { values, positionals } = parsed("token", args, {
      key: { type: "string" },
      "keys-file": { type: "string" },
      values: { type: "boolean" },
      json: { type: "boolean" },
    });
    const [verb, given, ...rest] = positionals;
    if (verb !== "inspect" || given === undefined || rest.length > 0) {
      throw new Usage("token: it is `token inspect <token>`, or - for standard input");
    }
    const keys = keysAtHand(values, io.env);
    if (keys === undefined) {
      throw new Usage("token: it takes the server's key: set PARLEY_KEYS, or pass --key");
    }
    const text = tokenIn((given === "-" ? await read(process.stdin) : given).trim());
    const found = inspect(text, parseKeys(keys.text));
    const isShown = values.values === true;
    io.out(values.json === true ? `${plainJson(asJson(found, isShown))}\n` : told(found, isShown));
    if (found.expiresAt > Date.now()) return exit.done;
    io.err(`It has expired ${duration(Date.now() - found.expiresAt)} ago: a server refuses it.\n`);
    return exit.failed;
  },
};

interface Inspected extends Head {
  readonly keyId: string;
  readonly bytes: number;
  /** Undefined where it is kept in the store. */
  readonly state: CallState | undefined;
}

function tokenIn(text: string): string {
  if (!isReference(text)) return text;
  const { requestState, taskId } = readReference(text).state;
  if (requestState !== undefined) return requestState;
  throw new Error(
    taskId === undefined
      ? "That is a reference to a call without state: it has not been asked anything yet."
      : "That is a reference to a task: its state is in the store, not in a token.",
  );
}

function inspect(text: string, keyring: Keyring): Inspected {
  const [, word, keyId = ""] = /^(\w\d)\.([\w-]+)\.[\w-]+$/.exec(text) ?? [];
  if (word === "t1") throw new Error("That is a ticket, good for one page, and not a token.");
  if (word === "r1") throw new Error("That is a record of a task store, and not a token.");
  if (word !== "v1") {
    throw new Error("That is not a token of this library: they read v1.<key id>.<base64url>.");
  }
  const reading = open("v1", text, keyring);
  if (reading.kind === "refused") throw new Error(whyNot(reading.reason, keyId, keyring));
  const plain = unpack(reading.payload, 256 * 1_024 * 1_024);
  const head = plain === undefined ? undefined : decodeHead(plain);
  const state = head && decodeState<PackedState>(head);
  if (head === undefined || state === undefined) throw new Error(ofAnotherVersion);
  return {
    ...head,
    keyId,
    bytes: text.length,
    state: state.kind === "spilled" ? undefined : unpacked(state.value),
  };
}

const ofAnotherVersion = "It opens, but another version of this library has written it.";

function unpacked(packed: PackedState): CallState {
  try {
    return unpackState(packed);
  } catch {
    throw new Error(ofAnotherVersion);
  }
}

function whyNot(
  reason: "malformed" | "unknown_key" | "forged",
  keyId: string,
  { opening }: Keyring,
): string {
  switch (reason) {
    case "malformed":
      return "That is a token that lost a part, or has one too many: copy it as a whole.";
    case "unknown_key": {
      const known = [...opening.keys()].map((id) => `"${id}"`).join(", ");
      return `The wrong key: it was sealed with "${keyId}", and given ${opening.size === 1 ? "is" : "are"} ${known}.`;
    }
    case "forged":
      return `Tampered with, or the wrong key: it does not open with this "${keyId}".`;
  }
}

// ---------------------------------------------------------------- what it says

function told(found: Inspected, isShown: boolean): string {
  const { audience, method, target, keyId, callId, round, roundsLeft } = found;
  const leftMs = found.expiresAt - Date.now();
  const lines = [
    `requestState of server "${plainLine(audience)}": ${method} ${plainLine(target)}`,
    `  key      ${keyId}`,
    `  call     ${plainLine(callId)}`,
    `  rounds   ${round} done, ${roundsLeft} left`,
    `  expires  ${new Date(found.expiresAt).toISOString()}${leftMs > 0 ? `, in ${duration(leftMs)}` : ""}`,
    `  caller   ${found.principal === undefined ? "nobody in particular: no authorisation" : plainLine(found.principal)}`,
    `  size     ${size(found.bytes)}`,
  ];
  const { state } = found;
  if (state === undefined)
    return `${[...lines, "  recorded in the store: too large for a token"].join("\n")}\n`;
  lines.push(`  recorded ${state.entries.length === 0 ? "nothing" : ""}`.trimEnd());
  for (const entry of state.entries) {
    const value = valueOf(entry);
    const bytes = value === undefined ? "" : size(Buffer.byteLength(JSON.stringify(value)));
    const shown = isShown && value !== undefined ? `  ${plainJson(value)}` : "";
    lines.push(`    ${entry.kind.padEnd(10)} ${plainLine(entry.key)}  ${bytes}${shown}`.trimEnd());
  }
  const asked = state.out.map(({ key }) => plainLine(key)).join(", ");
  lines.push(`  asked    ${asked === "" ? "nothing" : asked}`);
  return `${lines.join("\n")}\n`;
}

function asJson(found: Inspected, isShown: boolean): object {
  const { audience, method, target, keyId, callId, round, roundsLeft, expiresAt, state } = found;
  return {
    audience,
    method,
    target,
    keyId,
    callId,
    round,
    roundsLeft,
    expiresAt,
    principal: found.principal ?? null,
    bytes: found.bytes,
    expired: expiresAt <= Date.now(),
    inStore: state === undefined,
    entries: state?.entries.map((entry) => {
      const value = valueOf(entry);
      return {
        kind: entry.kind,
        key: entry.key,
        bytes: value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)),
        ...(isShown && value !== undefined ? { value } : {}),
      };
    }),
    asked: state?.out.map(({ key, dueAt }) => ({ key, ...(dueAt === undefined ? {} : { dueAt }) })),
    abilities: state?.abilities,
  };
}

function valueOf(entry: Entry): unknown {
  if (entry.kind === "answer" || entry.kind === "step") return entry.value;
  return entry.kind === "threw" ? entry.error : undefined;
}
