// Cancels tasks in their store and records it in the audit, as their server would. Otherwise the record of a call would have
// no end, and `parley audit --check` would report the call.

import { userInfo } from "node:os";
import { Audit } from "../../server/audit/audit.ts";
import { isReadable } from "../../server/audit/open-chain.ts";
import { taskAudit } from "../../server/audit/task-audit.ts";
import { nodeEnvironment } from "../../server/ops/environment.ts";
import { noTelemetry } from "../../server/ops/telemetry.ts";
import { defaultTaskLimits } from "../../tasks/limits.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { isLive } from "../../tasks/task.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import type { Keyring } from "../../token/keyring.ts";
import { errorText } from "../../util/error-text.ts";
import type { Io } from "../command.ts";
import { availableKeys, keyringOf } from "../doctor/available-keys.ts";
import { keysForStore, opensTask, sealedSample } from "../doctor/store-keys.ts";
import type { SealedSample } from "../doctor/store-keys.ts";

/** Who cancels, and how the audit is sealed. */
export interface CancelOptions {
  /** The name of the server. */
  readonly name?: string | undefined;
  /** Who cancels. Default: the user of the operating system. */
  readonly principal?: string | undefined;
  readonly "keys-file"?: string | undefined;
}

/** What a person is told about a cancellation that the audit does not have. */
export const leavesNoRecord =
  "A cancellation without the keys leaves no record, and `parley audit --check` then names its call.";
const howToGiveKeys = "Set PARLEY_KEYS to the keys of the server, or pass --keys-file.";
const noName =
  "The audit of this store has no record yet, so nothing says which server the task belongs to, and the cancellation was not recorded. If the server keeps its audit there, pass --name with the name in parley({ name }).";
const notTheKeys = (name: string) =>
  `These keys do not open the task for a server with the name "${name}". ${leavesNoRecord}`;

/** Cancels tasks of one store. */
export class Canceller {
  readonly #store: TaskStore;
  readonly #who: string;
  readonly #keyring: Keyring | undefined;
  readonly #sample: SealedSample;
  readonly #name: string | undefined;
  readonly #notice: string | undefined;
  /** What there is to say about the cancellations that are not recorded. */
  readonly warnings: Set<string> = new Set();

  private constructor(
    store: TaskStore,
    sample: SealedSample,
    keys: { readonly keyring: Keyring | undefined; readonly notice: string | undefined },
    { name, principal }: CancelOptions,
  ) {
    this.#store = store;
    this.#sample = sample;
    this.#keyring = keys.keyring;
    this.#notice = keys.notice;
    this.#name = name;
    this.#who = principal ?? userInfo().username;
  }

  /** Finds out which keys there are, and whether they are those of the store. */
  static async of(store: TaskStore, options: CancelOptions, env: Io["env"]): Promise<Canceller> {
    const given = availableKeys({ "keys-file": options["keys-file"] }, env);
    const { keys, notice } = await keysForStore(store, given, options.name);
    const keyring = keys === undefined ? undefined : keyringOf(keys);
    return new Canceller(store, await sealedSample(store), { keyring, notice }, options);
  }

  /** What a person should know before anything is cancelled. */
  get caution(): string | undefined {
    if (this.#keyring !== undefined || this.#sample.entries.length === 0) return undefined;
    return `${this.#notice ?? howToGiveKeys} ${leavesNoRecord}`;
  }

  /** Cancels a task and records it. Resolves to the task afterwards. */
  async cancel(id: string): Promise<TaskRecord | undefined> {
    const before = await this.#store.read(id);
    const task = await this.#store.cancel(id, defaultTaskLimits.keepMs);
    // If several people cancel a task, one of them ends it.
    const isNews = before !== undefined && isLive(before) && task?.revision !== before.revision;
    if (task?.status === "cancelled" && isNews) await this.#record(before, task);
    return task;
  }

  async #record(before: TaskRecord, task: TaskRecord): Promise<void> {
    const { audit } = this.#store;
    if (audit === undefined) return;
    const keyring = this.#keyring;
    if (keyring === undefined) {
      if (this.caution !== undefined) this.warnings.add(this.caution);
      return;
    }
    const chain = await audit.readChain(task.callId);
    const [first] = chain;
    const candidates =
      this.#name !== undefined
        ? [this.#name]
        : first === undefined
          ? this.#sample.names
          : [first.app];
    const fits = (name: string) =>
      opensTask(before, name, keyring) ||
      chain.some((entry) => entry.app === name && isReadable(entry, keyring));
    const name = candidates.find(fits);
    if (name === undefined) {
      const [known] = candidates;
      this.warnings.add(known === undefined ? noName : notTheKeys(known));
      return;
    }
    await this.#write(task, name, keyring);
  }

  /** The audit keeps what it cannot write, for a server that goes on. This command ends, so it says what is missing. */
  async #write(task: TaskRecord, name: string, keyring: Keyring): Promise<void> {
    let failure: unknown;
    const audit = new Audit(() => ({
      name,
      auditing: {},
      environment: { ...nodeEnvironment, eventually: () => () => {} },
      logger: silent,
      telemetry: noTelemetry,
      store: this.#store,
      tasks: undefined,
      keyring: () => keyring,
      storeFailed: (error) => void (failure = error),
    }));
    await taskAudit({ audit: audit.record }).cancelled(task, { via: "console", who: this.#who });
    if (failure !== undefined) {
      this.warnings.add(`The cancellation could not be recorded: ${errorText(failure)}`);
    }
  }
}

const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
