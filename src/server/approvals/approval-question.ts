// The questions of `ctx.approve`: one for the caller, which is a confirmation, and one that members of a group decide.

import { ParleyError, UnansweredError } from "../../errors.ts";
import type { Decision } from "../../errors.ts";
import { elicitAnswer } from "../../protocol/answers.ts";
import type { AnswerEntry } from "../../replay/journal.ts";
import type { QuestionSpec, Reading } from "../../replay/operations.ts";
import type { Decided } from "../../tasks/decisions.ts";
import type { Json } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";
import type { AuditedPart } from "../audit/audited-question.ts";
import { digestOf, formQuestion, impossible, isShown, timeLimit } from "../context/questions.ts";
import type { ExternalQuestion, QuestionParams } from "../context/questions.ts";
import { confirmForm } from "../forms/form.ts";
import type { About } from "../pages/page-question.ts";

// ---------------------------------------------------------------- by a group

/** Who decides: so many members of a group. */
export interface Deciders {
  readonly by: string;
  readonly of: number;
}

/** Throws ParleyError "bad_option" for options that contradict each other. Undefined if the caller decides. */
export function decidersOf(
  key: string,
  { by, of }: { readonly by?: string | undefined; readonly of?: number | undefined },
): Deciders | undefined {
  if (of !== undefined && !(Number.isSafeInteger(of) && of >= 1)) {
    throw badOption(`Approval "${key}" has of: ${of}. Use a whole number from 1.`);
  }
  if (by === undefined) {
    if (of === undefined) return undefined;
    throw badOption(`Approval "${key}" has of: ${of} but no group. Add by: "…".`);
  }
  if (typeof by === "string" && by !== "") return { by, of: of ?? 1 };
  throw badOption(`Approval "${key}" has by: ${JSON.stringify(by)}. Pass the name of a group.`);
}

/** A question that members of a group decide, through the page or `app.decide`. */
export function groupQuestion(
  question: QuestionParams,
  message: string,
  about: About | undefined,
  { by, of }: Deciders,
): QuestionSpec {
  const { key } = question;
  return {
    digest: digestOf(key, ["approval", message, by, of, about ?? null]),
    timeoutMs: timeLimit(question),
    verb: question.verb,
    impossible: impossible(question, "task"),
    read: (raw) => readDecisions(key, of, decisionsIn(raw)),
    shown: {
      external: true,
      page: () => ({ message, about, approval: { by, of } }),
      needs: of,
      audited: {
        message,
        about: () => about,
        deciders: { group: by, needed: of },
        records: auditedDecisions,
      },
    } satisfies ExternalQuestion,
  };
}

/** What is decided is checked again: as many people as are needed, each of them once, or one refusal at the end. */
function readDecisions(key: string, of: number, decided: readonly Decided[]): Reading {
  const decisions = decided.map(asDecision);
  const people = new Set(decisions.map(({ who }) => who));
  const last = decisions.at(-1);
  const before = decisions.slice(0, -1);
  const isWhole = people.size === decisions.length && before.every((one) => one.isApproved);
  if (last === undefined || !isWhole) return notDecided;
  if (!last.isApproved) return { kind: "refused", error: declinedBy(key, decisions) };
  return people.size >= of ? { kind: "value", value: { decisions } } : notDecided;
}

const notDecided: Reading = { kind: "invalid", reason: "Not enough people have decided" };

function decisionsIn(raw: Json): readonly Decided[] {
  if (!isObject(raw) || !Array.isArray(raw["decisions"])) return [];
  return raw["decisions"];
}

/** A decision as authors see it. */
export function asDecision({ who, isApproved, at, via, note }: Decided): Decision {
  return {
    who,
    isApproved,
    at: new Date(at),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `decide`
    via: via as Decision["via"],
    ...(note === undefined ? {} : { note }),
  };
}

const declinedBy = (key: string, decisions: readonly Decision[]) =>
  new UnansweredError(key, "declined", decisions);

// ---------------------------------------------------------------- by the caller

/** A confirmation by the caller. When it was given is recorded with the answer, so that it is the same in every run. */
export function callerQuestion(
  question: QuestionParams,
  message: string,
  about: About | undefined,
  caller: string | undefined,
  now: () => number,
): QuestionSpec {
  const { key } = question;
  const who = caller ?? "the caller";
  const asked = formQuestion(question, withAbout(message, about), confirmForm, "throws");
  const decided = (reading: Reading, decision: Omit<Decided, "isApproved">): Reading => {
    if (reading.kind === "value") {
      return {
        kind: "value",
        value: { decisions: [asDecision({ ...decision, isApproved: true })] },
      };
    }
    if (reading.kind !== "refused" || !isRefusal(reading.error)) return reading;
    const refusal = asDecision({ ...decision, isApproved: false });
    return { kind: "refused", error: declinedBy(key, [refusal]) };
  };
  const fromRecord = (raw: Json): Omit<Decided, "isApproved"> => {
    const { at = 0, via = "form" } =
      isObject(raw) && isObject(raw["decided"]) ? raw["decided"] : {};
    return { who, at: Number(at), via: typeof via === "string" ? via : "form" };
  };
  return {
    ...asked,
    read: async (raw) => decided(await asked.read(raw), fromRecord(raw)),
    admit: async (raw) => {
      const reading = await asked.read(raw);
      if (reading.kind === "invalid" || !isObject(raw)) return reading;
      const decision = { at: now(), via: question.call.way(question) ?? "form" };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was JSON before
      return { ...reading, recorded: { ...raw, decided: decision } as unknown as Json };
    },
    shown: withAboutOnPage(withDecision(asked.shown, message, about), message, about),
  };
}

/** An approval of a rule that is recorded already. Who agreed has agreed, even if the rule has changed since. */
export function recordedApproval(key: string, digest: string): QuestionSpec {
  return {
    digest,
    isOwn: true,
    verb: "approve",
    timeoutMs: 1,
    read: (raw) => {
      if (isObject(raw) && "decisions" in raw) return readDecisions(key, 1, decisionsIn(raw));
      const action = isObject(raw) ? raw["action"] : undefined;
      if (action === "accept") return { kind: "value", value: { decisions: [] } };
      const reason = action === "decline" ? "declined" : "cancelled";
      return { kind: "refused", error: new UnansweredError(key, reason) };
    },
    shown: undefined,
  };
}

const isRefusal = (error: unknown): boolean =>
  error instanceof UnansweredError && error.reason === "declined";

/** A client's form shows a message only, so it says there what the caller should know. */
function withAbout(message: string, about: About | undefined): string {
  if (typeof message !== "string" || about === undefined) return message;
  const told = Object.entries(about).map(([name, value]) => `${name}: ${String(value)}`);
  return [message, "", ...told].join("\n");
}

function withAboutOnPage(shown: unknown, message: string, about: About | undefined): unknown {
  if (!isShown(shown) || shown.page === undefined || about === undefined) return shown;
  const { page } = shown;
  return { ...shown, page: () => ({ ...page(), message, about }) };
}

const badOption = (message: string) => new ParleyError("bad_option", message);

// ---------------------------------------------------------------- for the audit

/** Each decision was recorded when it was made. If its process died in between, it is recorded with the outcome. */
function auditedDecisions(entry: AnswerEntry): readonly AuditedPart[] | undefined {
  if (entry.kind !== "answer") return undefined;
  return decisionsIn(entry.value)
    .map(asDecision)
    .map(({ isApproved, at, ...decision }) => ({
      ...decision,
      action: isApproved ? "approved" : "rejected",
      at,
      occasion: at.getTime(),
    }));
}

function withDecision(shown: unknown, message: string, about: About | undefined): unknown {
  if (!isShown(shown)) return shown;
  const audited = { ...shown.audited, message, about: () => about, records: callersDecision };
  return { ...shown, audited };
}

/** A caller who cancels, or does not answer in time, has decided nothing. */
function callersDecision(entry: AnswerEntry): readonly AuditedPart[] | undefined {
  const answer = entry.kind === "answer" ? elicitAnswer(entry.value) : undefined;
  if (answer === undefined || answer.action === "cancel") return undefined;
  return [{ action: answer.action === "accept" ? "approved" : "rejected" }];
}
