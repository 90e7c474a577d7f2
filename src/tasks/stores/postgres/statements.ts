// All statements of the Postgres store. Each operation is in one statement, under READ COMMITTED. There are two ways to
// make a statement safe, and each statement names its own:
//
// - "one row, one update": Postgres waits until no other statement is writing the row, and then evaluates the condition
//   and the new values again on the row as it is now.
// - "locked first": `for update` waits in the same way and returns the newest row. Everything else is computed from
//   that row, which no other statement can change until this one ends.
//
// The frequent ones do it for several tasks at once (statement-groups.ts): `members` in fragments.ts says what they are given.
// They lock the rows in the order of their ids, so that none of two waits for the other: an update finds its rows in the order
// of the members, and a statement that locks first sorts them.
//
// What a statement reads besides the locked row, such as the log, is as old as the start of the statement. Where that
// matters, a comment says so.

import { accountStatements } from "./account-statements.ts";
import type { AccountStatement } from "./account-statements.ts";
import { auditStatements } from "./audit-statements.ts";
import type { AuditStatement } from "./audit-statements.ts";
import { approvalStatements } from "./approval-statements.ts";
import type { ApprovalStatement } from "./approval-statements.ts";
import { clientStatements } from "./client-statements.ts";
import type { ClientStatement } from "./client-statements.ts";
import { partStatements } from "./part-statements.ts";
import type { PartStatement } from "./part-statements.ts";
import { readerStatements } from "./reader-statements.ts";
import type { ReaderStatement } from "./reader-statements.ts";
import { roundStatements } from "./round-statements.ts";
import type { RoundStatement } from "./round-statements.ts";
import { upkeepStatements } from "./upkeep-statements.ts";
import type { UpkeepStatement } from "./upkeep-statements.ts";
import { workerStatements } from "./worker-statements.ts";
import type { WorkerStatement } from "./worker-statements.ts";

/** The name of a statement. */
export type StatementName =
  | ApprovalStatement
  | ClientStatement
  | WorkerStatement
  | PartStatement
  | ReaderStatement
  | UpkeepStatement
  | RoundStatement
  | AccountStatement
  | AuditStatement;

/** The SQL of every statement, for the tables in a schema whose name is quoted. */
export function statementsFor(schema: string): Readonly<Record<StatementName, string>> {
  return {
    ...approvalStatements(schema),
    ...clientStatements(schema),
    ...workerStatements(schema),
    ...partStatements(schema),
    ...readerStatements(schema),
    ...upkeepStatements(schema),
    ...roundStatements(schema),
    ...accountStatements(schema),
    ...auditStatements(schema),
  };
}
