// `once: true` (R14): a round that is sent again, by an impatient client or a retrying proxy, runs once. The store
// says who runs it, keeps what it has recorded so far, and its response for whoever sends the same round again.

import { invalidParams } from "../protocol/error-codes.ts";
import type { InboxEvent } from "../replay/inbox.ts";
import type { Hooks } from "../replay/hooks.ts";
import type { Entry } from "../replay/journal.ts";
import { Stop } from "../replay/stop.ts";
import { cutRecord, entryRecord, readEntries } from "../tasks/log.ts";
import type { RoundClaimed, TaskStore } from "../tasks/store.ts";
import type { Ref } from "../tasks/task.ts";
import { openJson, sealJson } from "../tasks/vault.ts";
import type { Json } from "../replay/json.ts";
import { shortDigest } from "../token/canonical.ts";
import type { Call } from "./call.ts";
import type { Core } from "./core.ts";
import type { RoundAnswer, RoundRequest } from "./round.ts";
import { vaultOf } from "./work.ts";

type Run = (call: Call, request: RoundRequest, hooks: Partial<Hooks>) => Promise<RoundAnswer>;

const margin = 60_000;

export async function runOnce(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
  run: Run,
): Promise<RoundAnswer> {
  // A first request carries nothing to know it by: sent again it is another call. So no body starts in it.
  if (call.tokenExpiresAt === undefined) return run(call, request, { mayStart: () => "later" });
  const patience = core.environment.now() + core.limits.tokenTtlMs;
  for (;;) {
    const claim = await claimOf(core, store, call, request, call.tokenExpiresAt);
    switch (claim.kind) {
      case "run":
        return runClaimed(core, store, call, request, run, claim);
      case "ended":
        return openAnswer(core, call, claim.response);
      case "superseded":
        return superseded;
      case "running":
        if (request.stop?.reason !== undefined) return { kind: "none" };
        if (core.environment.now() > patience) return superseded;
        await new Promise<void>((resolve) => core.environment.after(100, resolve));
    }
  }
}

const superseded: RoundAnswer = {
  kind: "error",
  code: invalidParams,
  message:
    "This round was answered before, with other answers, or a later one has begun. Go on from the newest requestState.",
  data: { reason: "superseded_round" },
};

function claimOf(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
  tokenExpiresAt: number,
): Promise<RoundClaimed> {
  const { environment, limits } = core;
  return store.claimRound({
    callId: call.id(),
    round: call.round,
    answers: shortDigest(request.inputResponses ?? {}),
    leaseMs: store.leaseMs,
    // As long as any token of this call may come back.
    ttlMs: Math.max(tokenExpiresAt - environment.now(), limits.tokenTtlMs) + margin,
  });
}

async function runClaimed(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
  run: Run,
  { ref, log }: Extract<RoundClaimed, { kind: "run" }>,
): Promise<RoundAnswer> {
  const round = new ClaimedRound(core, store, call, ref, log.length);
  const stop = new Stop();
  const takeOff = request.stop?.on((reason) => stop.stop(reason));
  const endRenewal = round.renew(() => stop.stop("LostLease"));
  try {
    const answer = await run(round.goneOn(log), { ...request, stop }, round.hooks);
    if (answer.kind === "none") {
      await store.releaseRound(ref);
      return answer;
    }
    if (await store.endRound(ref, sealAnswer(core, call, answer))) return answer;
    // Somebody else has it: what they make of it is the response.
    return await runOnce(core, store, call, request, run);
  } catch (error) {
    await store.releaseRound(ref).catch(() => {});
    throw error;
  } finally {
    takeOff?.();
    endRenewal();
  }
}

class ClaimedRound {
  readonly #core: Core;
  readonly #store: TaskStore;
  readonly #call: Call;
  readonly #ref: Ref;
  #length: number;

  constructor(core: Core, store: TaskStore, call: Call, ref: Ref, length: number) {
    this.#core = core;
    this.#store = store;
    this.#call = call;
    this.#ref = ref;
    this.#length = length;
  }

  /** The call with what an attempt that died has recorded in this round. */
  goneOn(log: readonly string[]): Call {
    const { id, state } = this.#call;
    const entries = readEntries(vaultOf(this.#core), this.#place(id()), log, state.entries);
    return { ...this.#call, state: { ...state, entries } };
  }

  get hooks(): Partial<Hooks> {
    return { append: (entry) => this.#append(entry), cut: (from, back) => this.#cut(from, back) };
  }

  /** While it runs. Returns the function that ends it. */
  renew(onLost: () => void): () => void {
    const { environment } = this.#core;
    const { leaseMs } = this.#store;
    let isOver = false;
    let callOff: (() => void) | undefined;
    const again = () => {
      callOff = environment.eventually(leaseMs / 3, () => void once());
    };
    const once = async () => {
      const isOurs = await this.#store.renewRound(this.#ref, leaseMs).catch(() => true);
      if (isOver) return;
      if (isOurs) again();
      else onLost();
    };
    again();
    return () => {
      isOver = true;
      callOff?.();
    };
  }

  async #append(entry: Entry): Promise<void> {
    const place = this.#place(this.#call.id());
    await this.#write(entryRecord(vaultOf(this.#core), place, this.#length, entry));
  }

  /** The answers it gives back are in the token, which comes again with the round. */
  async #cut(from: number, _back: readonly InboxEvent[]): Promise<void> {
    const place = this.#place(this.#call.id());
    await this.#write(cutRecord(vaultOf(this.#core), place, this.#length, from));
  }

  async #write(record: string): Promise<void> {
    const isOurs = await this.#store.appendToRound(this.#ref, this.#length, record);
    if (!isOurs) throw new Error("This round was taken over by another instance.");
    this.#length += 1;
  }

  #place(callId: string): string {
    return `${callId}/round-${this.#call.round}`;
  }
}

const answerPlace = (call: Call) => `${call.id()}/round-${call.round}/answer`;

function sealAnswer(core: Core, call: Call, answer: RoundAnswer): string {
  const { cause: _cause, ...kept } = { cause: undefined, ...answer };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
  return sealJson(vaultOf(core), kept as unknown as Json, answerPlace(call));
}

function openAnswer(core: Core, call: Call, response: string): RoundAnswer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `sealAnswer`
  return openJson(vaultOf(core), response, answerPlace(call)) as unknown as RoundAnswer;
}
