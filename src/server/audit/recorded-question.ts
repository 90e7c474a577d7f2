// What the audit in the store says about a question. A closed question is kept nowhere else.

import type { Core } from "../core.ts";
import type { AuditRecord } from "./audit-record.ts";
import { openChain } from "./open-chain.ts";

/** The record of a question in the wording with this digest, or else as it was asked last. Undefined if there is none. */
export async function recordedQuestion(
  core: Pick<Core, "auditing" | "store" | "keyring">,
  { callId, key, digest }: Required<Pick<AuditRecord, "callId" | "key" | "digest">>,
): Promise<AuditRecord | undefined> {
  const store = core.auditing.store === false ? undefined : core.store?.audit;
  if (store === undefined || callId === undefined) return undefined;
  try {
    const { records } = openChain(await store.readChain(callId), core.keyring());
    const asked = records.filter((one) => one.action === "asked" && one.key === key);
    return asked.findLast((one) => one.digest === digest) ?? asked.at(-1);
  } catch {
    // Whoever asks has something to record, with this or without it.
    return undefined;
  }
}
