// What a round puts into the inbox of its run: the answers of its request, and the time limits that have passed.

import type { InboxEvent } from "../../replay/inbox.ts";
import type { Sender } from "../../replay/journal.ts";
import type { Json } from "../../util/json.ts";
import type { OpenWait } from "./state.ts";

/** In the order that the questions were asked. A time limit that has passed comes before a late answer (R7). */
export function events(
  out: readonly OpenWait[],
  answers: ReadonlyMap<string, object>,
  now: number,
  from?: ReadonlyMap<string, Sender>,
): InboxEvent[] {
  const found: InboxEvent[] = [];
  if (out.length === 0 && answers.size === 0) return found;
  for (const { key, digest: put, dueAt, isExternal } of out) {
    if (dueAt !== undefined && dueAt <= now) found.push({ kind: "due", key, digest: put });
    const value = isExternal === true ? undefined : answers.get(key);
    if (value === undefined) continue;
    const { via, who } = from?.get(key) ?? theClient;
    found.push({ kind: "answer", key, value: json(value), digest: put, via, who });
  }
  const asked = askedIn(out);
  for (const [key, value] of answers) {
    if (!asked(key)) found.push({ kind: "answer", key, value: json(value), digest: undefined });
  }
  return found;
}

/** Whether a key was asked. A set is made only for many, because a client can send as many answers as it likes. */
function askedIn(out: readonly OpenWait[]): (key: string) => boolean {
  if (out.length <= few) return (key) => out.some((one) => one.key === key);
  const keys = new Set(out.map(({ key }) => key));
  return (key) => keys.has(key);
}

const few = 8;

/** It needs no naming. */
const theClient: Sender = {};

// The value was parsed from a request's JSON.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const json = (value: object): Json => value as Json;
