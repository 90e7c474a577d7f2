// Writes audit records. Whatever goes wrong here is logged and counted, and never fails the call.

import { errorText } from "../../util/error-text.ts";
import { shortDigest } from "../../token/canonical.ts";
import type { Core } from "../core.ts";
import type { AuditOptions, AuditRecord, AuditSink, NewAuditRecord } from "./audit-record.ts";

/** What `parley({ audit })` says. */
export function auditOptions(given: AuditSink | AuditOptions | undefined): AuditOptions {
  if (given === undefined) return {};
  const options = typeof given === "function" ? { sink: given } : given;
  const { sink } = options;
  if (typeof options !== "object" || (sink !== undefined && typeof sink !== "function")) {
    throw new TypeError(
      "parley({ audit }) takes a function that gets each record, or { sink, values }.",
    );
  }
  return options;
}

/** The part of the app that the audit uses. */
export type AuditedApp = Pick<Core, "auditing" | "environment" | "logger" | "telemetry">;

/** Records what happened. Never rejects. */
export async function audit(app: AuditedApp, record: NewAuditRecord): Promise<void> {
  const { sink } = app.auditing;
  if (sink === undefined) return;
  await tell(app, sink, recordOf(app, record));
}

/** The record as it is kept, without an answer that must not be. */
function recordOf({ auditing, environment }: AuditedApp, given: NewAuditRecord): AuditRecord {
  const { at = new Date(environment.now()), occasion: _, value, ...rest } = given;
  const id = idOf(given) ?? environment.newId();
  const kept = auditing.values === true && value !== undefined ? { ...rest, value } : rest;
  return { id, at, ...kept };
}

/** The same for the same thing, so that a replay or a second attempt is recognised. Undefined without a call. */
function idOf(record: NewAuditRecord): string | undefined {
  const { callId, action, key, digest, who, occasion } = record;
  if (callId === undefined) return undefined;
  return shortDigest([callId, action, key ?? null, digest ?? null, who ?? null, occasion ?? null]);
}

async function tell(app: AuditedApp, sink: AuditSink, record: AuditRecord): Promise<void> {
  try {
    await sink(record);
  } catch (error) {
    app.telemetry.auditFailed("sink");
    app.logger.error(`The audit sink failed, and this record is lost to it: ${errorText(error)}`, {
      call: record.callId,
      action: record.action,
      record: record.id,
    });
  }
}
