// `parley audit`: shows what was asked and decided, and checks that nothing of it is missing.

import { parseOptions } from "../args/command-line.ts";
import { auditFilter } from "../audit/audit-filters.ts";
import { readAudit } from "../audit/read-audit.ts";
import { show, tellCheck } from "../audit/tell-audit.ts";
import { UsageError } from "../command.ts";
import type { Command } from "../command.ts";
import { availableKeys, keyringOf, ofDevelopment } from "../doctor/available-keys.ts";
import { keysForStore } from "../doctor/store-keys.ts";
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
records that were sealed with keys you have replaced since, add those keys after
the current ones. Of a record whose key is missing, it shows the time, the call,
the server and the id of the key.

Filters (all that you pass must fit)
  --text TEXT       in the question, in what was shown beside it, or in a note
  --action A,B      asked, answered, declined, cancelled, timed_out, approved,
                    rejected, too_late, call_cancelled, rerun, undone,
                    undo_failed, connected, disconnected, token_refused
  --who NAME        who did it: the caller, unless someone else is named
  --principal NAME  whose call it is
  --tool NAME
  --call ID         the beginning of the id is enough, if it is the only one
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

A record that was sealed with a key that is not here is not reported as changed.
But its contents cannot be checked, so the exit code is 3 and not 0.

Examples
  parley audit "$DATABASE_URL" --text "deployment 17" --action approved,rejected
  parley audit .parley/parley.db --who bo --since 7d
  parley audit "$DATABASE_URL" --call 8f1c0f64 --json
  parley audit "$DATABASE_URL" --check

JSON (--json)
  {"parley": 1, "records": [{"at", "action", "callId", "taskId", "tool",
  "principal", "who", "via", "key", "message", "group", "needed", "about",
  "note", …}], "sealed": [{"at", "chain", "n", "app", "keyId"}],
  "problems": [{"call", "problem"}]}
  --check: {"parley": 1, "records": 12, "sealed": [{…}], "calls": 4,
  "open": ["…"], "problems": [{"call", "problem"}]}

Exit codes
  0 done, 1 failed, or something is missing or was changed, 2 usage error,
  3 some records cannot be read with these keys, and nothing else is wrong
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
    const keyring = keyringOf(keys);
    const read = await withStore(target, values.schema, async (store) => {
      // Nobody has named these keys, so they may be those of another server.
      if (keys.from === ofDevelopment) {
        const { notice } = await keysForStore(store, keys);
        io.err(`${notice ?? `The keys come from ${keys.from}.`}\n`);
      }
      return readAudit(store, keyring, values.call);
    });
    const isJson = values.json === true;
    return values.check === true ? tellCheck(read, io, isJson) : show(read, filter, io, isJson);
  },
};
