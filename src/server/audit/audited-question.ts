// What a question tells the audit about itself.

import type { AnswerEntry } from "../../replay/journal.ts";
import type { About } from "../pages/page-question.ts";
import type { Via } from "../round/ways.ts";
import type { NewAuditRecord } from "./audit-record.ts";

/** What a question tells the audit about itself. It is part of what the question shows. */
export interface AuditedQuestion {
  readonly message?: string | undefined;
  readonly about?: (() => About | undefined) | undefined;
  readonly via?: Via | undefined;
  /** Who decides, if it is a group. */
  readonly deciders?: Required<Pick<NewAuditRecord, "group" | "needed">> | undefined;
  /** The answer is never recorded. */
  readonly isSecret?: boolean | undefined;
  /** The answer is a value that someone delivers, and not what a client says about an elicitation. */
  readonly isValue?: boolean | undefined;
  /** What its entry says, if that is more than one answer. */
  readonly records?: ((entry: AnswerEntry) => readonly AuditedPart[] | undefined) | undefined;
}

/** What a question says in its own words about an entry. The rest of the record is the same for all. */
export type AuditedPart = Pick<NewAuditRecord, "action"> &
  Partial<Pick<NewAuditRecord, "who" | "via" | "note" | "value" | "at" | "occasion">>;
