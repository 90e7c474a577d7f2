// Checks that one replica can open what another has sealed. This needs a call that is left at its first question, so
// the person has to name a tool that is safe to start.

import { referenceTo, stateOf } from "../../client/reference.ts";
import type { Call, Connection } from "../../client/index.ts";
import { CallError } from "../../client/index.ts";
import { decodeHead } from "../../token/claims.ts";
import { read } from "../../token/format.ts";
import type { Keyring } from "../../token/keyring.ts";
import { unpack } from "../../token/payload.ts";
import { duration } from "../screen/amounts.ts";
import { toolsOf } from "../server/catalog.ts";
import { typedArguments } from "../args/typed-arguments.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** A server, and the connection to it. */
export interface Replica {
  readonly url: string;
  readonly connection: Connection;
}

/** The tool to call. */
export interface Trial {
  readonly tool: string;
  /** Its arguments, as typed: k=v. */
  readonly words: readonly string[];
}

/** A call that waits for its first answer, as a client would keep it. */
interface Parked {
  readonly ref: string;
  readonly token: string;
}

/** Whether the replicas share their keys, and how long a state is valid. */
export async function sharedKeysFindings(
  replicas: readonly Replica[],
  trial: Trial,
  keyring: Keyring | undefined,
): Promise<readonly Finding[]> {
  const [first, ...others] = replicas;
  if (first === undefined) return [];
  const parked = await begin(first.connection, trial);
  if (typeof parked === "string") return [notChecked("shared keys", parked)];
  const findings = [limitFinding(parked.token, keyring)];
  if (others.length === 0) {
    findings.push(notChecked("shared keys", "pass the URL of a second replica to compare with."));
  }
  for (const { url, connection } of others) {
    findings.push(await opensAt(url, connection, parked));
  }
  return findings;
}

async function begin(connection: Connection, { tool, words }: Trial): Promise<Parked | string> {
  const known = (await toolsOf(connection)).find(({ name }) => name === tool);
  if (known === undefined) {
    return `the server has no tool "${tool}". parley list <url> shows the ones that it has.`;
  }
  const args = typedArguments(words, known.inputSchema);
  const call = connection.start(tool, args, { timeoutMs: 30_000 });
  try {
    for await (const event of call) {
      if (event.type === "task") return await becameTask(call, tool);
      if (event.type !== "asked") continue;
      const { requestState } = stateOf(event.ref);
      if (requestState === undefined)
        return `${tool} was called and asks, but the server sends no state with its question. ${passAnother}`;
      return { ref: event.ref, token: requestState };
    }
    return `${tool} was called and ended without a question. ${passAnother}`;
  } catch (error) {
    return `${tool} cannot be called: ${reasonOf(error)}`;
  } finally {
    await call.cancel().catch(() => {});
  }
}

const passAnother =
  "Pass a tool that asks before it does anything, or compare the keys with those of the store: --store.";

/** What the handler did until then cannot be taken back, so the person has to know. */
async function becameTask(call: Pick<Call, "cancel">, tool: string): Promise<string> {
  const cancelled = await call.cancel().then(
    () => "its task was cancelled",
    (error: unknown) => `its task could not be cancelled (${reasonOf(error)})`,
  );
  return `${tool} was called, became a task before it asked anything, and ${cancelled}. What it did until then is done. ${passAnother}`;
}

/** A state that is sent back without an answer makes a server ask the same question again, and nothing else. */
async function opensAt(
  url: string,
  connection: Connection,
  { ref, token }: Parked,
): Promise<Finding> {
  const { origin, pathname } = new URL(url);
  const target = `${origin}${pathname}`;
  const state = { ...stateOf(ref), target, questions: new Map(), answers: new Map() };
  const call = connection.resume(referenceTo(state), { timeoutMs: 30_000 });
  try {
    for await (const { type } of call) {
      if (type === "asked") return fine("shared keys", `${url} opens what the first replica seals`);
    }
    return notChecked("shared keys", `${url} continued without asking. ${passAnother}`);
  } catch (error) {
    const isRefused = error instanceof CallError && error.code === "state_refused";
    if (!isRefused) return wrong("shared keys", `${url}: ${reasonOf(error)}`);
    return wrong(
      "shared keys",
      `${url} refuses what the first replica seals (key "${token.split(".")[1]}"). Give both the same PARLEY_KEYS and the same name.`,
    );
  } finally {
    await call.cancel().catch(() => {});
  }
}

const shortMs = 2 * 60_000;
const longMs = 7 * 24 * 3_600_000;

/** How long a state is valid, which only the key can show. */
function limitFinding(token: string, keyring: Keyring | undefined): Finding {
  const reading = keyring === undefined ? undefined : read("v1", token, keyring);
  const plain = reading?.kind === "read" ? unpack(reading.payload, 64 * 1_024 * 1_024) : undefined;
  const head = plain === undefined ? undefined : decodeHead(plain);
  if (head === undefined)
    return notChecked("time limit", "set PARLEY_KEYS to the server's key to see it.");
  const leftMs = head.expiresAt - Date.now();
  const time = duration(leftMs);
  if (leftMs < shortMs) {
    return wrong("time limit", `people have only ${time} to answer. Raise limits.tokenTtlMs.`);
  }
  if (leftMs > longMs) {
    return wrong(
      "time limit",
      `a state is valid for ${time}. Lower limits.tokenTtlMs, or use a task.`,
    );
  }
  return fine("time limit", `people have ${time} to answer`);
}
