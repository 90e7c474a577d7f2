// What rounds and tasks need from the app that serves them, whatever transport it uses.

import type { TaskRuntime } from "../tasks/runtime.ts";
import type { TaskStore } from "../tasks/store.ts";
import type { Sealer } from "../tasks/sealing.ts";
import type { Keyring } from "../token/keyring.ts";
import type { RecentTokens } from "../token/recent-tokens.ts";
import { openRecord, sealRecord } from "../token/sealed-record.ts";
import type { GateRegistry } from "./approvals/gates.ts";
import type { Accounts } from "./accounts/account.ts";
import type { UndoRegistry } from "./define/undo.ts";
import type { AuditOptions, AuditTrail } from "./audit/audit-record.ts";
import type { Limits } from "./limits.ts";
import type { Watching } from "./round/round-watch.ts";
import type { Reach } from "./round/ways.ts";
import type { Environment } from "./ops/environment.ts";
import type { Logger } from "./ops/logger.ts";
import type { Telemetry } from "./ops/telemetry.ts";
import type { Followed } from "./tasks/after-response.ts";

/** The app as its rounds and tasks see it. */
export interface Core {
  /** The server's name, which is the audience of its tokens. */
  readonly name: string;
  /** The version of the author's code. Each run notes it, so that another version knows whose history it meets (R17). */
  readonly version: string;
  /** Throws ParleyError "no_keys" if no keys are configured. */
  readonly keyring: () => Keyring;
  /** What the tokens say that this app has sealed a moment ago. */
  readonly recentTokens: RecentTokens;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly environment: Environment;
  readonly telemetry: Telemetry;
  /** Whether the app is being closed. Its rounds then end before their next step. */
  readonly isClosing: () => boolean;
  /** Who watches the rounds of this process. */
  readonly watching?: Watching | undefined;
  /** What `app.undo` has registered. */
  readonly undos: UndoRegistry;
  /** What `app.gate` has added. */
  readonly gates: GateRegistry;
  /** What opens ways to the person besides the client's own forms. */
  readonly reach: Reach;
  /** The public address, below which the pages are. Undefined if there is none. */
  readonly publicUrl: () => URL | undefined;
  /** The accounts of callers at other services. Undefined without `parley({ connections })`. */
  readonly accounts: () => Accounts | undefined;
  /** Undefined without a store. */
  readonly tasks: TaskRuntime | undefined;
  /** Undefined if the app has no store. */
  readonly store: TaskStore | undefined;
  /** What `parley({ audit })` says. */
  readonly auditing: AuditOptions;
  /** Records what happened, in the store and for the sink. It never rejects, and resolves when the record is written. */
  readonly audit: AuditTrail["record"];
  /** Whether the audit is on, and how the record of a call ends. */
  readonly trail: AuditTrail;
  /** Logs that the store failed a request. In an outage, it logs once and not for each request. */
  readonly storeFailed: (error: unknown, fields?: Record<string, unknown>) => void;
  /** Serves a request. Afterwards runs what is due, if the host passed a `waitUntil`. */
  readonly following: Followed;
}

/** Seals what the task engine stores. The server's name is part of each place, so another server on the same store cannot open it. */
export function sealerOf(core: Core): Sealer {
  return {
    seal: (text, place) => sealRecord(text, `${core.name}/${place}`, core.keyring()),
    open: (sealed, place) => openRecord(sealed, `${core.name}/${place}`, core.keyring()),
  };
}
