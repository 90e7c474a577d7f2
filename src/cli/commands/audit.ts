// `parley audit`: shows what was asked and decided, and checks that nothing of it is missing.

import type { AuditRecord } from "../../server/audit/audit-record.ts";
import { parseOptions } from "../args/command-line.ts";
import { auditFilter } from "../audit/audit-filters.ts";
import { readAudit } from "../audit/read-audit.ts";
import type { ReadAudit } from "../audit/read-audit.ts";
import { exit, UsageError } from "../command.ts";
import type { Command, ExitCode, Io } from "../command.ts";
import { availableKeys, keyringOf } from "../doctor/available-keys.ts";
import { counted } from "../screen/amounts.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { table } from "../screen/table.ts";
import { withStore } from "../tasks/store-tasks.ts";

const options = {
  store: { type: "string" },
  schema: { type: "string" },
  "keys-file": { type: "string" },
  call: { type: "string" },
  task: { type: "string" },
  tool: { type: "string" },
  principal: { type: "string" },
  who: { type: "string" },
  action: { type: "string" },
  text: { type: "string" },
  since: { type: "string" },
  until: { type: "string" },
  check: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** `parley audit` */
export const audit: Command = {
  help: `Shows who was asked what, who answered, when and how, and checks the record.

Usage
  parley audit <postgres://… | file.db> [filters]
  parley audit <postgres://… | file.db> --check

Servers record each question, answer, decision, cancellation and undo in their
store. The records are sealed, so this command needs the keys of the server:
PARLEY_KEYS, --keys-file, or .parley/keys of the development server. To read
records that were sealed with keys you have replaced since, add those keys.

Filters (all that you pass must fit)
  --text TEXT       in the question, in what was shown beside it, or in a note
  --action A,B      asked, answered, declined, cancelled, timed_out, approved,
                    rejected, too_late, call_cancelled, rerun, undone,
                    undo_failed, connected, disconnected, token_refused
  --who NAME        who did it: the caller, unless someone else is named
  --principal NAME  whose call it is
  --tool NAME
  --call ID
  --task ID
  --since TIME      2026-11-16, 2026-11-16T09:30Z, or a time ago: 30m, 24h, 7d
  --until TIME

Options
  --check           check that no record is missing, was changed or was moved
  --store STORE     the same as <store>
  --schema NAME     Postgres: the schema of its tables (default: parley)
  --keys-file FILE  a file with the keys
  --json            for programs

The records of a call are numbered, and each is sealed together with the digest
of the one before. So --check finds a record that was deleted, changed or moved.
It cannot find that all records of a call were deleted, nor, while a call is not
over, that its last ones were. To be sure of these, also keep the records
elsewhere: parley({ audit: (record) => … }).

Examples
  parley audit "$DATABASE_URL" --text "deployment 17" --action approved,rejected
  parley audit .parley/parley.db --who bo --since 7d
  parley audit "$DATABASE_URL" --call 8f1c0f64a2c94c1d9a3b7be04c55d7e2 --json
  parley audit "$DATABASE_URL" --check

JSON (--json)
  {"parley": 1, "records": [{"at", "action", "callId", "taskId", "tool",
  "principal", "who", "via", "key", "message", "group", "needed", "about",
  "note", …}], "problems": [{"call", "problem"}]}
  --check: {"parley": 1, "records": 12, "calls": 4, "open": ["…"],
  "problems": [{"call", "problem"}]}

Exit codes
  0 done, 1 failed, or something is missing or was changed, 2 usage error
`,
  run: async (args, io) => {
    const { values, positionals } = parseOptions("audit", args, options);
    const [target = values.store, ...rest] = positionals;
    if (target === undefined || rest.length > 0 || (positionals.length > 0 && values.store)) {
      throw new UsageError("audit: pass one store: postgres://… or a SQLite file.");
    }
    const filter = auditFilter(values, Date.now());
    const keys = availableKeys({ "keys-file": values["keys-file"] }, io.env);
    if (keys === undefined) {
      throw new UsageError(
        "audit: the records are sealed. Set PARLEY_KEYS to the keys of the server, or pass --keys-file.",
      );
    }
    const read = await withStore(target, values.schema, (store) =>
      readAudit(store, keyringOf(keys), values.call),
    );
    const isJson = values.json === true;
    return values.check === true
      ? tellCheck(read, io, isJson)
      : show(read, read.records.filter(filter), io, isJson);
  },
};

function show(
  { problems }: ReadAudit,
  records: readonly AuditRecord[],
  { out, err }: Io,
  isJson: boolean,
): ExitCode {
  if (isJson) out(`${plainJson({ parley: 1, records, problems })}\n`);
  else if (records.length === 0) out("There are no such records.\n");
  else out(table([header, ...records.map(row)]));
  if (problems.length === 0) return exit.done;
  err("Something is missing or was changed. Run the same command with --check to see what.\n");
  return exit.failed;
}

const header = ["TIME", "ACTION", "WHO", "VIA", "TOOL", "CALL", "SHOWN"];

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

function tellCheck(read: ReadAudit, { out }: Io, isJson: boolean): ExitCode {
  const { records, calls, open, problems } = read;
  const code = problems.length === 0 ? exit.done : exit.failed;
  if (isJson) {
    out(`${plainJson({ parley: 1, records: records.length, calls, open, problems })}\n`);
    return code;
  }
  for (const { call, problem } of problems) out(`Call ${plainLine(call, 60)}: ${problem}\n`);
  const checked = `Checked ${counted(records.length, "record")} of ${counted(calls, "call")}.`;
  out(
    problems.length === 0
      ? `${checked} Nothing is missing or was changed.\n`
      : `${checked} ${counted(problems.length, "problem")} found.\n`,
  );
  if (open.length > 0) {
    const which = open.length > 5 ? "" : `: ${open.map((call) => plainLine(call, 60)).join(", ")}`;
    out(
      `${counted(open.length, "call")} without an end${which}. They are not over, their clients have left, or their last records were cut off, which cannot be told apart.\n`,
    );
  }
  return code;
}
