// Which records of an audit a person wants to see.

import type { AuditAction, AuditRecord } from "../../server/audit/audit-record.ts";
import { didYouMean } from "../args/command-line.ts";
import { UsageError } from "../command.ts";
import { readDuration } from "../screen/amounts.ts";

/** The filters, as they are written on the command line. */
export interface AuditFilters {
  readonly task?: string | undefined;
  readonly tool?: string | undefined;
  readonly principal?: string | undefined;
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly text?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const actions = [
  ...(["asked", "answered", "declined", "cancelled", "timed_out"] as const),
  ...(["approved", "rejected", "too_late"] as const),
  ...(["call_cancelled", "rerun", "undone", "undo_failed"] as const),
  ...(["connected", "disconnected", "token_refused"] as const),
] satisfies readonly AuditAction[];

/** Tells which records pass all filters. */
export interface AuditFilter {
  readonly fits: (record: AuditRecord) => boolean;
  /** For a record that cannot be opened. Undefined if a filter asks for something that is sealed. */
  readonly fitsSealed: ((record: { readonly at: number }) => boolean) | undefined;
}

/** Reads the filters. Throws a `UsageError` for one that means nothing. */
export function auditFilter(filters: AuditFilters, now: number): AuditFilter {
  const { task, tool, principal, who, action, text } = filters;
  const wanted = action?.split(",").map((word) => actionOf(word.trim()));
  const since = timeOf("--since", filters.since, now);
  const until = timeOf("--until", filters.until, now);
  const isInTime = (at: number) =>
    (since === undefined || at >= since) && (until === undefined || at <= until);
  const fits = (record: AuditRecord) =>
    (task === undefined || record.taskId === task) &&
    (tool === undefined || record.tool === tool) &&
    (principal === undefined || record.principal === principal) &&
    // The caller did what nobody else is named for.
    (who === undefined || (record.who ?? record.principal) === who) &&
    (wanted === undefined || wanted.includes(record.action)) &&
    isInTime(record.at.getTime()) &&
    (text === undefined || textsOf(record).includes(text.toLowerCase()));
  const needsOpened = [task, tool, principal, who, action, text].some((one) => one !== undefined);
  return { fits, fitsSealed: needsOpened ? undefined : ({ at }) => isInTime(at) };
}

function actionOf(word: string): AuditAction {
  const found = actions.find((action) => action === word);
  if (found !== undefined) return found;
  throw new UsageError(
    `audit: unknown action "${word}"${didYouMean(word, actions)} The actions are ${actions.join(", ")}.`,
  );
}

/** A date, or a time ago: "7d", "24h", "30m". */
function timeOf(option: string, given: string | undefined, now: number): number | undefined {
  if (given === undefined) return undefined;
  const ago = /[smhd]$/.test(given) ? readDuration(given) : undefined;
  const time = ago === undefined ? Date.parse(given) : now - ago;
  if (Number.isFinite(time)) return time;
  throw new UsageError(
    `audit: ${option} takes a time such as 2026-11-16, 2026-11-16T09:30Z, 24h or 7d.`,
  );
}

const textsOf = ({ message = "", note = "", key = "", about = {} }: AuditRecord): string =>
  [message, note, key, ...Object.entries(about).flat().map(String)].join("\n").toLowerCase();
