// Writes audit records: to the store, which is the evidence, and then to the sink. Whatever goes wrong here is logged and
// counted, and never fails the call.

import { shortDigest } from "../../token/canonical.ts";
import { errorText } from "../../util/error-text.ts";
import { isThenable } from "../../util/promises.ts";
import type { Core } from "../core.ts";
import type {
  AuditedCall,
  AuditOptions,
  AuditRecord,
  AuditSink,
  AuditTrail,
  NewAuditRecord,
} from "./audit-record.ts";
import { KeptAudit } from "./kept-audit.ts";
import type { KeptRecord } from "./kept-audit.ts";

/** What `parley({ audit })` says. */
function auditOptions(given: AuditSink | AuditOptions | undefined): AuditOptions {
  if (given === undefined) return {};
  const options = typeof given === "function" ? { sink: given } : given;
  const { sink } = options;
  if (typeof options !== "object" || (sink !== undefined && typeof sink !== "function")) {
    throw new TypeError(
      "parley({ audit }) takes a function that gets each record, or { sink, values, store }.",
    );
  }
  return options;
}

/** The audit as the app has it. */
export function auditOf(
  app: () => Core,
  given: AuditSink | AuditOptions | undefined,
): Pick<Core, "auditing" | "audit" | "trail"> {
  const trail = new Audit(app);
  return { auditing: auditOptions(given), audit: trail.record, trail };
}

/** The part of the app that the audit uses. */
type AuditedApp = Pick<
  Core,
  | ("name" | "auditing" | "environment" | "logger" | "telemetry")
  | ("store" | "tasks" | "keyring" | "storeFailed")
>;

const longestText = 4_096;
const dayMs = 24 * 3_600_000;
/** Refused tokens cost a client nothing, and must not fill the store. */
const mostRefusalsAMinute = 60;
/** What waits for a store that fails. The log says what is lost beyond that. */
const mostUnwritten = 10_000;
const retryMs = 5_000;

/** The audit of one instance of an app. */
export class Audit implements AuditTrail {
  readonly #app: () => AuditedApp;
  #kept: { readonly of: unknown; readonly audit: KeptAudit } | undefined;
  readonly #unwritten = new Map<string, KeptRecord[]>();
  #isRetrying = false;
  /** The chain for what belongs to no call. Each process has its own, so that they need not wait for each other. */
  #own: { readonly name: string; readonly until: number } | undefined;
  #ownTurn: Promise<unknown> = Promise.resolve();
  #refusals = { until: 0, count: 0 };

  constructor(app: () => AuditedApp) {
    this.#app = app;
  }

  get isOn(): boolean {
    const { auditing, store } = this.#app();
    return auditing.sink !== undefined || (auditing.store !== false && store?.audit !== undefined);
  }

  get isOnce(): boolean {
    return !this.isOn || this.#store() !== undefined;
  }

  readonly record = async (
    given: NewAuditRecord | readonly NewAuditRecord[],
    call: AuditedCall = {},
  ): Promise<void> => {
    if (!this.isOn) return;
    const list: readonly NewAuditRecord[] = isList(given) ? given : [given];
    const records = list.map((one) => this.#recordOf(one));
    const callId = list[0]?.callId;
    const fresh = await (callId === undefined
      ? this.#keepOwn(records)
      : this.#keep(callId, records, call));
    const { sink } = this.#app().auditing;
    if (sink !== undefined)
      for (const one of fresh) if (one.action !== "~end") this.#tell(sink, one);
  };

  readonly end = async (callId: string): Promise<void> => {
    if (this.isOn) await this.#keep(callId, [], { isEnd: true });
  };

  /** The record as it is kept, without an answer that must not be. */
  #recordOf(given: NewAuditRecord): AuditRecord {
    const { auditing, environment } = this.#app();
    const { at = new Date(environment.now()), occasion: _, value, message, ...rest } = given;
    return {
      id: idOf(given) ?? environment.newId(),
      at,
      ...rest,
      ...(message === undefined ? {} : { message: shortened(message) }),
      ...(auditing.values === true && value !== undefined ? { value } : {}),
    };
  }

  /** Resolves to the records that are not known to be there already. */
  async #keep(
    chain: string,
    records: readonly KeptRecord[],
    { isNew = false, isEnd = false }: AuditedCall,
  ): Promise<readonly KeptRecord[]> {
    const kept = this.#store();
    if (kept === undefined) return records;
    const at = new Date(this.#app().environment.now());
    const end: KeptRecord = { id: "~end", at, action: "~end" };
    const waiting = this.#unwritten.get(chain) ?? [];
    const all = [...waiting, ...records, ...(isEnd ? [end] : [])];
    try {
      await this.#app().tasks?.ready();
      const fresh = await kept.add(chain, all, isNew && waiting.length === 0);
      this.#unwritten.delete(chain);
      return fresh.filter((one) => !waiting.includes(one));
    } catch (error) {
      this.#failed(chain, all, error);
      return records;
    }
  }

  #keepOwn(records: readonly AuditRecord[]): Promise<readonly KeptRecord[]> {
    const { environment } = this.#app();
    const now = environment.now();
    // A chain is deleted whole when it is old enough, so each day has its own.
    if (this.#own === undefined || this.#own.until <= now) {
      const day = new Date(now).toISOString().slice(0, 10);
      this.#own = { name: `~${day}/${environment.newId()}`, until: now + dayMs };
    }
    if (records.some(({ action }) => action === "token_refused") && !this.#mayRefuse(now)) {
      return Promise.resolve(records);
    }
    const { name } = this.#own;
    const turn = this.#ownTurn.then(() => this.#keep(name, records, { isNew: true }));
    this.#ownTurn = turn;
    return turn;
  }

  #mayRefuse(now: number): boolean {
    if (this.#refusals.until <= now) this.#refusals = { until: now + 60_000, count: 0 };
    this.#refusals.count += 1;
    return this.#refusals.count <= mostRefusalsAMinute;
  }

  #store(): KeptAudit | undefined {
    const app = this.#app();
    const store = app.auditing.store === false ? undefined : app.store?.audit;
    if (store === undefined) return undefined;
    if (this.#kept?.of !== store) this.#kept = { of: store, audit: new KeptAudit(store, app) };
    return this.#kept.audit;
  }

  #failed(chain: string, records: readonly KeptRecord[], error: unknown): void {
    const { telemetry, logger, storeFailed } = this.#app();
    for (const _ of records) telemetry.auditFailed("store");
    storeFailed(error, { call: chain });
    const waiting = [...this.#unwritten.values()].reduce((sum, list) => sum + list.length, 0);
    if (waiting + records.length > mostUnwritten) {
      logger.error(
        `${records.length} audit records are lost, because the store has failed for long: ${errorText(error)}`,
        { call: chain, actions: records.map(({ action }) => action) },
      );
      return;
    }
    this.#unwritten.set(chain, [...records]);
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#isRetrying || this.#unwritten.size === 0) return;
    this.#isRetrying = true;
    this.#app().environment.eventually(retryMs, () => void this.#retry());
  }

  async #retry(): Promise<void> {
    for (const [chain, records] of this.#unwritten) {
      const kept = this.#store();
      try {
        await this.#app().tasks?.ready();
        await kept?.add(chain, records, false);
        if (this.#unwritten.get(chain) === records) this.#unwritten.delete(chain);
      } catch {
        break;
      }
    }
    this.#isRetrying = false;
    this.#retryLater();
  }

  /** Does not wait for the sink, so that a slow one delays nobody. */
  #tell(sink: AuditSink, record: AuditRecord): void {
    const failed = (error: unknown) => {
      const { telemetry, logger } = this.#app();
      telemetry.auditFailed("sink");
      logger.error(`The audit sink failed, and this record is lost to it: ${errorText(error)}`, {
        call: record.callId,
        action: record.action,
        record: record.id,
      });
    };
    try {
      const told = sink(record);
      if (isThenable(told)) void Promise.resolve(told).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** The same for the same thing, so that a replay or a second attempt is recognised. Undefined without a call. */
function idOf(record: NewAuditRecord): string | undefined {
  const { callId, action, key, digest, who, occasion } = record;
  if (callId === undefined) return undefined;
  return shortDigest([callId, action, key ?? null, digest ?? null, who ?? null, occasion ?? null]);
}

/** The digest tells whether a text that is cut off is the one that was asked. */
const shortened = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText)}…`;

const isList = (
  given: NewAuditRecord | readonly NewAuditRecord[],
): given is readonly NewAuditRecord[] => Array.isArray(given);
