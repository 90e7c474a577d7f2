// Shows the audit of a store to a person or a program, and says what is wrong with it.

import type { AuditRecord } from "../../server/audit/audit-record.ts";
import type { SealedEntry } from "../../server/audit/open-chain.ts";
import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { counted } from "../screen/amounts.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { table } from "../screen/table.ts";
import type { AuditFilter } from "./audit-filters.ts";
import type { ReadAudit } from "./read-audit.ts";

/** Shows the records that pass the filter. */
export function show(
  read: ReadAudit,
  { fits, fitsSealed }: AuditFilter,
  { out, err }: Io,
  isJson: boolean,
): ExitCode {
  const { problems } = read;
  const records = read.records.filter(fits);
  // A filter that asks for what is sealed cannot tell whether a sealed record fits.
  const unread = fitsSealed === undefined ? read.sealed : read.sealed.filter(fitsSealed);
  const sealed = fitsSealed === undefined ? [] : unread;
  if (isJson) out(`${plainJson({ parley: 1, records, sealed: sealed.map(timed), problems })}\n`);
  else if (records.length + sealed.length === 0) out("There are no such records.\n");
  else out(table([header, ...rows(records, sealed)]));
  if (unread.length > 0) {
    const what = fitsSealed === undefined ? "could not be searched" : "cannot be read";
    err(`${counted(unread.length, "record")} ${what}. ${sealedWith(unread)}\n`);
  }
  if (problems.length > 0) {
    err("Something is missing or was changed. Run the same command with --check to see what.\n");
  }
  return codeOf({ problems, sealed: unread });
}

/** Whoever can write to the database can change what nobody can read, so a sealed record is never "done". */
function codeOf({ problems, sealed }: Pick<ReadAudit, "problems" | "sealed">): ExitCode {
  if (problems.length > 0) return exit.failed;
  return sealed.length > 0 ? exit.keysNeeded : exit.done;
}

function sealedWith(sealed: readonly SealedEntry[]): string {
  const ids = [...new Set(sealed.map(({ keyId }) => `"${plainLine(keyId, 40)}"`))];
  const [keys, which] =
    ids.length === 1
      ? ["the key", "does not have that key, or has another one with the same id"]
      : ["the keys", "does not have all of them, or has others with the same ids"];
  return `They were sealed with ${keys} ${ids.join(", ")}. This command ${which}. Run it with the keys of that time, in PARLEY_KEYS or with --keys-file.`;
}

const timed = ({ at, ...entry }: SealedEntry) => ({ at: new Date(at), ...entry });

const header = ["TIME", "ACTION", "WHO", "VIA", "TOOL", "CALL", "SHOWN"];

/** The rows of both kinds, in the order of time. */
function rows(
  records: readonly AuditRecord[],
  sealed: readonly SealedEntry[],
): readonly (readonly string[])[] {
  return [
    ...records.map((record) => ({ at: record.at.getTime(), row: row(record) })),
    ...sealed.map((entry) => ({ at: entry.at, row: sealedRow(entry) })),
  ]
    .toSorted((one, other) => one.at - other.at)
    .map((one) => one.row);
}

function row(record: AuditRecord): readonly string[] {
  const { at, action, who, principal, via, tool, callId, key, message, about, note } = record;
  const { group, needed = 1 } = record;
  const deciders = group === undefined ? [] : [`group ${group}, ${needed} needed`];
  const beside = Object.entries(about ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
  const shown = [message ?? key ?? "", ...deciders, ...beside, ...(note ? [`“${note}”`] : [])];
  return [
    at.toISOString(),
    action,
    plainLine(who ?? principal ?? "–", 40),
    via ?? "–",
    plainLine(tool ?? "–", 30),
    plainLine(callId ?? "–", 40),
    plainLine(shown.filter((part) => part !== "").join(" · "), 400),
  ];
}

function sealedRow({ at, chain, n, app, keyId }: SealedEntry): readonly string[] {
  return [
    new Date(at).toISOString(),
    "(sealed)",
    "–",
    "–",
    "–",
    plainLine(chain, 40),
    plainLine(`record ${n} of server "${app}", sealed with the key "${keyId}"`, 400),
  ];
}

/** Says whether something is missing or was changed. */
export function tellCheck(read: ReadAudit, { out }: Io, isJson: boolean): ExitCode {
  const { records, sealed, calls, open, problems } = read;
  const code = codeOf(read);
  if (isJson) {
    const found = { records: records.length, sealed: sealed.map(timed), calls, open, problems };
    out(`${plainJson({ parley: 1, ...found })}\n`);
    return code;
  }
  for (const { call, problem } of problems) out(`Call ${plainLine(call, 60)}: ${problem}\n`);
  const checked = `Checked ${counted(records.length, "record")} of ${counted(calls, "call")}.`;
  const fine =
    sealed.length === 0
      ? "Nothing is missing or was changed."
      : "Nothing is missing, and nothing that these keys open was changed.";
  out(
    `${checked} ${problems.length === 0 ? fine : `${counted(problems.length, "problem")} found.`}\n`,
  );
  if (sealed.length > 0) {
    out(`${counted(sealed.length, "record")} could not be checked. ${sealedWith(sealed)}\n`);
  }
  if (open.length > 0) {
    const which = open.length > 5 ? "" : `: ${open.map((call) => plainLine(call, 60)).join(", ")}`;
    out(
      `${counted(open.length, "call")} without an end${which}. They are not over, their clients have left, or their last records were cut off, which cannot be told apart.\n`,
    );
  }
  return code;
}
