// What the audit says about the questions of one call: each is recorded before it is shown, and each answer before the
// handler gets it, so that nothing that depends on an answer happens without a record of it.

import { elicitAnswer } from "../../protocol/answers.ts";
import { isAnswer } from "../../replay/journal.ts";
import type { Carrier } from "../../replay/carrier.ts";
import type { AnswerEntry } from "../../replay/journal.ts";
import type { Open } from "../../replay/outcome.ts";
import type { Json } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";
import type { Core } from "../core.ts";
import type { Via } from "../round/ways.ts";
import type { NewAuditRecord } from "./audit-record.ts";
import type { AuditedPart, AuditedQuestion } from "./audited-question.ts";

/** Whose call it is. */
export interface AuditedCaller {
  readonly tool: string;
  readonly callId: string;
  readonly taskId?: string | undefined;
  readonly principal?: string | undefined;
}

/** The audit of one run of a call. */
export class CallAudit {
  readonly #core: Pick<Core, "audit">;
  readonly #caller: () => AuditedCaller;
  /** Whether this is the first round, so that nothing is recorded yet. */
  #isNew: boolean;
  #replayed: Promise<void> | undefined;
  /** Whether this run has recorded something. */
  hasRecorded = false;

  constructor(core: Pick<Core, "audit">, caller: () => AuditedCaller, isNew: boolean) {
    this.#core = core;
    this.#caller = caller;
    this.#isNew = isNew;
  }

  /** Records an entry that answers a question. */
  answered(entry: AnswerEntry, shown: unknown): Promise<void> {
    return this.#write(this.#recordsOf(entry, shown));
  }

  /** The process that recorded this entry died, perhaps before it wrote the audit. */
  replayed(entry: AnswerEntry, shown: unknown): void {
    const { hasRecorded } = this;
    const before = this.#replayed ?? Promise.resolve();
    this.#replayed = before.then(() => this.#core.audit(this.#recordsOf(entry, shown)));
    this.hasRecorded = hasRecorded;
  }

  /** Resolves when everything that was replayed is recorded. */
  settled(): Promise<void> | undefined {
    return this.#replayed;
  }

  /** Records questions before they are shown. */
  asked(open: readonly AskedQuestion[]): Promise<void> | undefined {
    if (open.length === 0) return this.#replayed;
    return this.#write(
      open.map(({ key, digest, shown, wire = key }) => {
        const { message, about, via, deciders } = auditedIn(shown);
        const occasion = wire === key ? undefined : wire;
        const shownBeside = about?.();
        return {
          ...this.#caller(),
          action: "asked",
          key,
          digest,
          message,
          via,
          occasion,
          ...deciders,
          ...(shownBeside === undefined ? {} : { about: shownBeside }),
        };
      }),
    );
  }

  async #write(records: readonly NewAuditRecord[]): Promise<void> {
    await this.#replayed;
    const isNew = this.#isNew;
    this.#isNew = false;
    this.hasRecorded = true;
    await this.#core.audit(records, { isNew });
  }

  #recordsOf(entry: AnswerEntry, shown: unknown): readonly NewAuditRecord[] {
    const question = auditedIn(shown);
    const { message, isSecret, records } = question;
    const { key, digest } = entry;
    const caller = this.#caller();
    const common = { ...caller, key, digest, message };
    const usual = partOf(entry, question);
    const parts = records?.(entry) ?? [usual];
    return parts.map(({ value, via = usual.via, who: by = usual.who, ...part }) => {
      const who = by === caller.principal ? undefined : by;
      return { ...common, ...part, via, who, ...(isSecret === true ? {} : { value }) };
    });
  }
}

/** A question that is about to be shown. */
export interface AskedQuestion extends Pick<Open, "key" | "digest" | "shown"> {
  /** The name that its answer uses, if it is another one each time that it is asked. */
  readonly wire?: string | undefined;
}

function partOf(entry: AnswerEntry, { via: way, isValue }: AuditedQuestion): AuditedPart {
  if (entry.kind === "expired") return { action: "timed_out" };
  const { value, who } = entry;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the ways of this version are written
  const via = (entry.via as Via | undefined) ?? way;
  const answer = isValue === true ? undefined : elicitAnswer(value);
  if (answer === undefined) return { action: "answered", via, who, value };
  if (answer.action === "accept") {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it came from JSON
    return { action: "answered", via, who, value: answer.content as Json };
  }
  return { action: answer.action === "decline" ? "declined" : "cancelled", via, who };
}

function auditedIn(shown: unknown): AuditedQuestion {
  const found: unknown = isObject(shown) ? shown["audited"] : undefined;
  return isObject(found) ? found : nothing;
}

const nothing: AuditedQuestion = {};

/** Adds the audit to how a run records its entries. */
export function audited(
  audit: CallAudit,
  append: Carrier["append"],
): NonNullable<Carrier["append"]> {
  return (entry, shown, isRepeatable) => {
    const appended = append?.(entry, shown, isRepeatable);
    if (!isAnswer(entry)) return appended;
    return appended === undefined
      ? audit.answered(entry, shown)
      : appended.then(() => audit.answered(entry, shown));
  };
}
