// The audit as the console shows it.

import { endId, openChain } from "../server/audit/open-chain.ts";
import type { AuditRecord } from "../server/audit/audit-record.ts";
import { fromStore } from "../server/tasks/store-needed.ts";
import type { AuditEntry } from "../tasks/audit-store.ts";
import { linkKeyId } from "../token/chain.ts";
import type { ApiCall } from "./api-call.ts";
import { newestRecords } from "./newest-records.ts";
import type { Admitted } from "./operator.ts";
import { Refusal } from "./refusal.ts";
import { textIn } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import type { AuditFacts, AuditList } from "./wire.ts";

/** How many records a page has. */
const pageSize = 50;
const mostOfCall = 500;

/** What the audit says about a call, the oldest first. */
export async function auditOfCall(
  view: StoreView,
  operator: Admitted,
  callId: string,
): Promise<readonly AuditFacts[]> {
  const { audit } = view.store;
  if (audit === undefined) return [];
  const chain = await fromStore(audit.readChain(callId));
  return factsIn(view, operator, chain.slice(-mostOfCall));
}

/** The newest records, the newest first. */
export async function newestAudit(
  view: StoreView,
  operator: Admitted,
): Promise<readonly AuditFacts[]> {
  const { audit } = view.store;
  if (audit === undefined) return [];
  const { now } = await fromStore(view.store.workers());
  const found = await fromStore(newestRecords(audit, now, pageSize));
  return factsIn(view, operator, found).toReversed();
}

/** GET api/audit */
export async function listAudit(
  view: StoreView,
  { operator, query }: Pick<ApiCall, "operator" | "query">,
): Promise<AuditList> {
  const call = textIn(query, "call");
  if (call !== undefined) return { records: await auditOfCall(view, operator, call) };
  const after = textIn(query, "after");
  if (after === undefined) return { records: await newestAudit(view, operator) };
  const { audit } = view.store;
  if (audit === undefined) return { records: [] };
  const [, at, n = "0", chain = ""] = /^(\d{1,16})\.(\d{1,12})\.(.*)$/s.exec(after) ?? [];
  if (at === undefined) {
    throw new Refusal(400, "invalid", '"after" must be what the page before returned as "next".');
  }
  const place = { at: Number(at), chain, n: Number(n) };
  const page = await fromStore(audit.readAfter(place, pageSize));
  const last = page.at(-1);
  const records = factsIn(view, operator, page);
  return { records, ...(last && { next: `${last.at}.${last.n}.${last.chain}` }) };
}

/** What records of any chains say. Those that do not open, because another key has sealed them, say so. */
function factsIn(
  { sealer, inside }: StoreView,
  operator: Admitted,
  entries: readonly AuditEntry[],
): readonly AuditFacts[] {
  const keyring = sealer && inside.core.keyring();
  return entries.flatMap((entry) => {
    if (entry.id === endId) return [];
    const [record] = keyring === undefined ? [] : openChain([entry], keyring).records;
    return record === undefined ? sealedFacts(entry) : factsOf(record, operator);
  });
}

/** What the store says in plain text. Chains of a process, and not of a call, begin with "~". */
const sealedFacts = ({ chain, n, at, record }: AuditEntry): AuditFacts => ({
  id: `${chain}.${n}`,
  at,
  action: "sealed",
  keyId: linkKeyId(record),
  ...(!chain.startsWith("~") && { callId: chain }),
});

function factsOf(record: AuditRecord, { values }: Admitted): AuditFacts {
  const { at, value, about: _about, digest: _digest, message, note, ...rest } = record;
  // The note of a person may say as much as a value. Of other records it is a name or a code.
  const isOpen = values || !hasPersonsNote.has(record.action);
  return {
    ...withoutUndefined(rest),
    at: at.getTime(),
    ...(isOpen && note !== undefined && { note }),
    ...(values && message !== undefined && { message }),
    ...(values && value !== undefined && { value }),
  };
}

/** What people say themselves, or an error says that an author's code threw. */
const hasPersonsNote: ReadonlySet<AuditRecord["action"]> = new Set([
  ...(["answered", "declined", "approved", "rejected", "too_late"] as const),
  "undo_failed",
]);

type Defined<T> = { [Member in keyof T]: Exclude<T[Member], undefined> };

/** The same members, without those that are undefined. */
function withoutUndefined<T extends object>(members: T): Defined<T> {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON leaves these members out, too
  return Object.fromEntries(kept) as Defined<T>;
}
