// The audit: what happened to the questions of a call, for whoever has to account for it later.

import type { Json } from "../../util/json.ts";
import type { About } from "../pages/page-question.ts";
import type { Via } from "../round/ways.ts";

/** What an audit record says has happened. */
export type AuditAction =
  | ("asked" | "answered" | "declined" | "cancelled" | "timed_out")
  | ("approved" | "rejected" | "too_late")
  | ("call_cancelled" | "rerun" | "undone" | "undo_failed")
  | ("connected" | "disconnected" | "token_refused");

/** One thing that happened. It is flat, because a sink writes rows. */
export interface AuditRecord {
  /** The same if the record is written again, for example after a crash. */
  readonly id: string;
  /** When it happened. */
  readonly at: Date;
  /** What happened. */
  readonly action: AuditAction;
  /** The tool, prompt or resource that was called. */
  readonly tool?: string | undefined;
  /** The call. Undefined if it is not known, such as that of a refused token. */
  readonly callId?: string | undefined;
  /** The task that the call has become. */
  readonly taskId?: string | undefined;
  /** Whose call it is. */
  readonly principal?: string | undefined;
  /** Who did this, if it is known and not the caller. */
  readonly who?: string | undefined;
  /** The key of the question, or of the step that was undone. */
  readonly key?: string | undefined;
  /** The digest of the question. It is the same for a question and its answers. */
  readonly digest?: string | undefined;
  /** The text of the question. */
  readonly message?: string | undefined;
  /** What was shown beside the question. */
  readonly about?: About | undefined;
  /** Of an approval that is asked for: the group whose members decide. Undefined if the caller decides. */
  readonly group?: string | undefined;
  /** How many members of the group must agree. */
  readonly needed?: number | undefined;
  /** How the question went to the person, or how the answer came. */
  readonly via?: Via | undefined;
  /** The name of the undo or the provider, the note of a decision (and what it was, if it came too late), the task that a rerun made, or why a token was refused. */
  readonly note?: string | undefined;
  /** The answer. Only with `audit: { values: true }`, and never that of a sensitive question. */
  readonly value?: Json | undefined;
}

/** Takes audit records, for `parley({ audit })`. What it throws is logged and never fails a call. */
export type AuditSink = (record: AuditRecord) => unknown;

/** The options of the audit, for `parley({ audit })`. */
export interface AuditOptions {
  /** Records what people answered, too. Default: false, so that records say that there was an answer and not which. */
  readonly values?: boolean | undefined;
  /** Whether the records are kept in the store. Default: true if the app has a store. */
  readonly store?: boolean | undefined;
  /** Also gets every record, to keep it elsewhere. It may get a record twice, with the same `id`. Default: none. */
  readonly sink?: AuditSink | undefined;
}

/** A record that is to be written. */
export interface NewAuditRecord extends Omit<AuditRecord, "id" | "at"> {
  /** When it happened. Default: now. */
  readonly at?: Date | undefined;
  /** Tells apart two records of a call that are otherwise the same, such as the second time that a question is asked. */
  readonly occasion?: string | number | undefined;
}

/** What is known about the call of some records. */
export interface AuditedCall {
  /** This is the first time that the call is recorded, so that there is nothing to look up. */
  readonly isNew?: boolean | undefined;
  /** Nothing more is expected to happen in this call. */
  readonly isEnd?: boolean | undefined;
}

/** Where the server writes its audit. */
export interface AuditTrail {
  /** Whether anything would come of a record. Asking costs nothing. */
  readonly isOn: boolean;
  /** Whether a record that is written again changes nothing. The store knows what it has. A sink by itself is told again. */
  readonly isOnce: boolean;
  /** Records what happened, all of it in one call or in none. It never rejects, and resolves when the store has it. */
  readonly record: (
    records: NewAuditRecord | readonly NewAuditRecord[],
    call?: AuditedCall,
  ) => Promise<void>;
  /** Marks the end of the record of a call, so that it shows if something is cut off. */
  readonly end: (callId: string) => Promise<void>;
}
