// The mailbox of a call in its rounds: a page takes the answer while no request is open, and the next round brings it in.
// Each question has a slot in the store, which holds the question for the page, and then the answer. The first answer wins.

import { elicitAnswer } from "../../protocol/answers.ts";
import type { Sender } from "../../replay/journal.ts";
import { openJson, sealJson } from "../../tasks/sealing.ts";
import { shortDigest } from "../../token/canonical.ts";
import type { Json } from "../../util/json.ts";
import { isObject } from "../../util/objects.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import { fromStore, noStore } from "../tasks/store-needed.ts";
import type { PageKey } from "./page-address.ts";
import { pending } from "./pending.ts";
import type { PageQuestion } from "./page-question.ts";

const slotOf = ({ callId, key, digest, asked }: PageKey): string =>
  `${callId}.mail.${shortDigest([key, digest, asked])}`;

const questionPlace = (slot: string) => `${slot}/question`;
const answerPlace = (slot: string) => `${slot}/answer`;

/** Opens a slot for a question, or keeps it open for longer. An answer that is there already stays. */
export async function keepQuestion(
  core: Core,
  of: PageKey,
  question: PageQuestion,
  principal: string | undefined,
  ttlMs: number,
): Promise<void> {
  if (core.store === undefined) throw noStore(`Question "${of.key}", whose answer a page brings,`);
  const slot = slotOf(of);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is made of JSON
  const sealed = sealJson(sealerOf(core), question as unknown as Json, questionPlace(slot));
  await fromStore(
    (async () => {
      await core.tasks?.ready();
      await core.tasks?.shares.write(principal ?? "", sealed.length, `Question "${of.key}"`, () =>
        Promise.resolve(core.store?.spill(slot, sealed, ttlMs, principal ?? "")),
      );
    })(),
  );
}

/** The question in a slot. Undefined if there is none, or no longer. */
export async function keptQuestion(core: Core, of: PageKey): Promise<PageQuestion | undefined> {
  const slot = slotOf(of);
  const sealed = await fromStore(inStore(core, (store) => store.spilled(slot)));
  if (sealed === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `keepQuestion`
  return openJson(sealerOf(core), sealed, questionPlace(slot)) as unknown as PageQuestion;
}

/** An answer that a page has brought, and how it came. */
export interface Mail {
  readonly answer: object;
  readonly from: Sender;
}

/** The answer in a slot, if one has come. "over" if the question was withdrawn before. */
export async function mailIn(core: Core, of: PageKey): Promise<Mail | "over" | undefined> {
  const slot = slotOf(of);
  const sealed = await fromStore(inStore(core, (store) => store.filled(slot)));
  if (sealed === undefined) return undefined;
  const mail = openJson(sealerOf(core), sealed, answerPlace(slot));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `putMail`
  return isObject(mail) && isObject(mail["answer"]) ? (mail as unknown as Mail) : "over";
}

/** Withdraws a question, unless it has an answer: nobody would read one that comes later. */
export async function withdraw(core: Core, of: PageKey): Promise<void> {
  await putMail(core, of, "over", {});
}

/** Puts an answer into a slot. */
export async function putMail(
  core: Core,
  of: PageKey,
  answer: Json,
  from: Sender,
): Promise<"filled" | "full" | "gone"> {
  const slot = slotOf(of);
  const mail = { answer, from: { ...from } };
  const sealed = sealJson(sealerOf(core), mail, answerPlace(slot));
  return fromStore(
    inStore(core, (store) => store.fill(slot, sealed)).then((filled) => filled ?? "gone"),
  );
}

async function inStore<T>(
  core: Core,
  use: (store: NonNullable<Core["store"]>) => Promise<T>,
): Promise<T | undefined> {
  await core.tasks?.ready();
  return core.store && use(core.store);
}

// ---------------------------------------------------------------- for the next round

/** A question of the last round that has a page. */
export interface Mailed {
  readonly key: string;
  readonly digest?: string | undefined;
  readonly asked?: number | undefined;
}

/**
 * The answers of a request, with what pages have brought in place of what the client says about them: that its user opened
 * an address is not an answer. If the client says so, this waits for up to 20 seconds, because most people finish soon.
 */
export async function withMail(
  core: Core,
  callId: string,
  open: readonly Mailed[],
  answers: ReadonlyMap<string, object>,
): Promise<{
  readonly answers: ReadonlyMap<string, object>;
  readonly mailed: ReadonlySet<string>;
  readonly from: ReadonlyMap<string, Sender>;
}> {
  const all = new Map(answers);
  const mailed = new Set<string>();
  const from = new Map<string, Sender>();
  const giveUpAt = core.environment.now() + 20_000;
  for (const { key, digest = "", asked } of open) {
    if (asked === undefined) continue;
    const of = { callId, key, digest, asked };
    const said = elicitAnswer(answers.get(key));
    // A person who declines in the client may have answered on the page before. One of the two counts.
    const isRefusal = said !== undefined && said.action !== "accept";
    if (isRefusal) await putMail(core, of, { action: said.action }, {});
    const mail = await arriving(core, of, said === undefined ? 0 : giveUpAt);
    // Its slot is used up, either way.
    if (mail !== undefined) mailed.add(key);
    if (typeof mail === "object") {
      all.set(key, mail.answer);
      from.set(key, mail.from);
    } else if (all.has(key)) all.set(key, pending);
  }
  return { answers: all, mailed, from };
}

async function arriving(
  core: Core,
  of: PageKey,
  giveUpAt: number,
): Promise<Mail | "over" | undefined> {
  const { environment } = core;
  let pauseMs = 250;
  for (;;) {
    const mail = await mailIn(core, of);
    if (mail !== undefined || environment.now() + pauseMs > giveUpAt) return mail;
    const ms = pauseMs;
    await new Promise<void>((resolve) => {
      environment.after(ms, resolve);
    });
    pauseMs = Math.min(pauseMs * 2, 2_000);
  }
}
