// Whether what one replica seals opens at another. It takes a call that is begun and left at its first question: so
// somebody has to name a tool for which that does no harm.

import { referenceTo, stateOf } from "../../client/reference.ts";
import type { Connection } from "../../client/index.ts";
import { CallError } from "../../client/index.ts";
import { decodeHead } from "../../token/claims.ts";
import { read } from "../../token/format.ts";
import type { Keyring } from "../../token/keyring.ts";
import { unpack } from "../../token/payload.ts";
import { duration } from "../screen/amounts.ts";
import { toolsOf } from "../server/listing.ts";
import { typedArguments } from "../args/typed-arguments.ts";
import { fine, notChecked, reasonOf, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

export interface Replica {
  readonly url: string;
  readonly connection: Connection;
}

export interface Trial {
  readonly tool: string;
  /** As they are typed: k=v. */
  readonly words: readonly string[];
}

/** A call that waits for its first answer, as its client would keep it. */
interface Parked {
  readonly ref: string;
  readonly token: string;
}

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
    findings.push(notChecked("shared keys", "name a second replica to compare with."));
  }
  for (const { url, connection } of others) {
    findings.push(await opensAt(url, connection, parked));
  }
  return findings;
}

async function begin(connection: Connection, { tool, words }: Trial): Promise<Parked | string> {
  const known = (await toolsOf(connection)).find(({ name }) => name === tool);
  if (known === undefined) return `the server has no tool "${tool}".`;
  const args = typedArguments(words, known.inputSchema);
  const call = connection.start(tool, args, { timeoutMs: 30_000 });
  try {
    for await (const event of call) {
      if (event.type === "task") return `${tool} became a task before it asked anything.`;
      if (event.type !== "asked") continue;
      const { requestState } = stateOf(event.ref);
      if (requestState === undefined) return `${tool} asks, but keeps no state.`;
      return { ref: event.ref, token: requestState };
    }
    return `${tool} ended without a question; name one that asks.`;
  } catch (error) {
    return `${tool} cannot be begun: ${reasonOf(error)}`;
  } finally {
    await call.cancel().catch(() => {});
  }
}

/** Sent back without an answer, a state makes a server ask the same again, and nothing else. */
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
      if (type === "asked") return fine("shared keys", `${url} opens what the first one seals`);
    }
    return notChecked("shared keys", `${url} went on without asking.`);
  } catch (error) {
    const isRefused = error instanceof CallError && error.code === "state_refused";
    if (!isRefused) return wrong("shared keys", `${url}: ${reasonOf(error)}`);
    return wrong(
      "shared keys",
      `${url} refuses what the first one seals (key "${token.split(".")[1]}"): give both the same PARLEY_KEYS, and the same name.`,
    );
  } finally {
    await call.cancel().catch(() => {});
  }
}

const shortMs = 2 * 60_000;
const longMs = 7 * 24 * 3_600_000;

/** Only whoever has the key can see for how long it is good. */
function limitFinding(token: string, keyring: Keyring | undefined): Finding {
  const reading = keyring === undefined ? undefined : read("v1", token, keyring);
  const plain = reading?.kind === "read" ? unpack(reading.payload, 64 * 1_024 * 1_024) : undefined;
  const head = plain === undefined ? undefined : decodeHead(plain);
  if (head === undefined)
    return notChecked("time limit", "it takes the server's key (PARLEY_KEYS) to see it.");
  const leftMs = head.expiresAt - Date.now();
  const time = duration(leftMs);
  if (leftMs < shortMs) {
    return wrong("time limit", `people have ${time} to answer: raise limits.tokenTtlMs.`);
  }
  if (leftMs > longMs) {
    return wrong(
      "time limit",
      `a state is good for ${time}: lower limits.tokenTtlMs, or use a task.`,
    );
  }
  return fine("time limit", `people have ${time} to answer`);
}
