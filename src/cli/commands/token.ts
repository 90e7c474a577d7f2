// `parley token inspect`: shows what a requestState contains, with the key of its server.

import { text as read } from "node:stream/consumers";
import process from "node:process";
import type { Entry } from "../../replay/journal.ts";
import { unpackState } from "../../server/round/state.ts";
import type { CallState, PackedState } from "../../server/round/state.ts";
import { decodeHead, decodeState } from "../../token/claims.ts";
import type { Head } from "../../token/claims.ts";
import { read as open } from "../../token/format.ts";
import type { Keyring } from "../../token/keyring.ts";
import { unpack } from "../../token/payload.ts";
import { duration, size } from "../screen/amounts.ts";
import { exit, UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { isReference, readReference } from "../journal/reference.ts";
import { availableKeys, keyringOf } from "../doctor/available-keys.ts";
import { parseOptions } from "../args/command-line.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { style } from "../screen/style.ts";

/** `parley token` */
export const token: Command = {
  help: `Opens a requestState with the server's key and shows what it contains.

Usage
  parley token inspect <token | reference | -> [--values] [--json]

It shows which call the state belongs to, how far the call is, when the state
expires, what is recorded and what is asked. A reference from \`parley call\` or
from the client works as well. "-" reads from standard input, which keeps the
token out of your shell history.

The keys come from PARLEY_KEYS, or from .parley/keys in this folder.

Options
  --key <keys>         use these keys
  --keys-file <file>   use the keys in this file
  --values             also show answers and step results, which may be secret
  --json               print one JSON object

Examples
  parley token inspect - < token.txt
  PARLEY_KEYS=… parley token inspect v1.2026-11.Xk3… --values

Exit codes
  0 the token is valid, 1 it does not open or has expired, 2 usage error
`,
  run: async (args, io) => {
    const { values, positionals } = parseOptions("token", args, {
      key: { type: "string" },
      "keys-file": { type: "string" },
      values: { type: "boolean" },
      json: { type: "boolean" },
    });
    const [verb, given, ...rest] = positionals;
    if (verb !== "inspect" || given === undefined || rest.length > 0) {
      throw new UsageError("token: use `token inspect <token>`, or - for standard input");
    }
    const keys = availableKeys(values, io.env);
    if (keys === undefined) {
      throw new UsageError("token: the server's key is needed. Set PARLEY_KEYS, or pass --key");
    }
    if (keys.warning !== undefined) io.err(`${style.yellow(keys.warning)}\n`);
    const text = tokenIn((given === "-" ? await read(process.stdin) : given).trim());
    const found = inspect(text, keyringOf(keys));
    const isShown = values.values === true;
    io.out(values.json === true ? `${plainJson(asJson(found, isShown))}\n` : told(found, isShown));
    if (found.expiresAt > Date.now()) return exit.done;
    io.err(
      `The token expired ${duration(Date.now() - found.expiresAt)} ago, so a server refuses it.\n`,
    );
    return exit.failed;
  },
};

interface Inspected extends Head {
  readonly keyId: string;
  readonly bytes: number;
  /** Undefined if it is kept in the store. */
  readonly state: CallState | undefined;
}

function tokenIn(text: string): string {
  if (!isReference(text)) return text;
  const { requestState, taskId } = readReference(text).state;
  if (requestState !== undefined) return requestState;
  throw new Error(
    taskId === undefined
      ? "This reference has no state yet, because the call has not asked anything."
      : "This is a reference to a task. Its state is in the store, not in a token.",
  );
}

function inspect(text: string, keyring: Keyring): Inspected {
  const [, word, keyId = ""] = /^(\w\d)\.([\w-]+)\.[\w-]+$/.exec(text) ?? [];
  if (word === "t1") throw new Error("This is a ticket for one page, not a token.");
  if (word === "r1") throw new Error("This is a record of a task store, not a token.");
  if (word !== "v1") {
    throw new Error(
      "This is not a token of this library. A token looks like v1.<key id>.<base64url>.",
    );
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

const ofAnotherVersion = "The token opens, but another version of this library wrote it.";

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
      return "The token is damaged. Copy all of it, and nothing else.";
    case "unknown_key": {
      const known = [...opening.keys()].map((id) => `"${id}"`).join(", ");
      return `Wrong key: the token was sealed with "${keyId}", but you passed ${known}.`;
    }
    case "forged":
      return `The token was changed, or this "${keyId}" is another key. It does not open.`;
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
    `  caller   ${found.principal === undefined ? "anyone (the server has no authorisation)" : plainLine(found.principal)}`,
    `  size     ${size(found.bytes)}`,
  ];
  const { state } = found;
  if (state === undefined)
    return `${[...lines, "  recorded in the store, because it is too large for a token"].join("\n")}\n`;
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
