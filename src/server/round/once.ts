// `once: true` (R14): a round that is sent again, by an impatient client or a retrying proxy, runs once. The store
// says who runs it, keeps what it has recorded so far, and its response for whoever sends the same round again.

import { invalidParams } from "../../protocol/error-codes.ts";
import { Inbox } from "../../replay/inbox.ts";
import type { InboxEvent } from "../../replay/inbox.ts";
import type { Entry } from "../../replay/journal.ts";
import { Stop } from "../../replay/stop.ts";
import { backOff } from "../../util/timers.ts";
import { Lease } from "../../tasks/execution/lease.ts";
import { cutRecord, entryRecord, readEntries } from "../../tasks/execution/log.ts";
import type { RoundClaimResult, TaskStore } from "../../tasks/store.ts";
import type { ClaimRef } from "../../tasks/task.ts";
import { openJson, sealJson } from "../../tasks/sealing.ts";
import type { Json } from "../../util/json.ts";
import { shortDigest } from "../../token/canonical.ts";
import type { Call } from "./call.ts";
import type { RecordHooks } from "./carrier.ts";
import type { Core } from "../core.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";
import { fromStore, storeTrouble } from "../tasks/store-needed.ts";
import { vaultOf } from "../tasks/vault.ts";

type Run = (call: Call, request: RoundRequest, hooks: RecordHooks) => Promise<RoundResponse>;

const margin = 60_000;

export async function runOnce(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
  run: Run,
): Promise<RoundResponse> {
  // A first request carries nothing to know it by: sent again it is another call. So no body starts in it.
  if (call.tokenExpiresAt === undefined) return run(call, request, { mayStart: () => "later" });
  const patience = core.environment.now() + core.limits.tokenTtlMs;
  for (;;) {
    const claim = await fromStore(claimOf(core, store, call, request, call.tokenExpiresAt));
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

const superseded: RoundResponse = {
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
): Promise<RoundClaimResult> {
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
  { ref, log }: Extract<RoundClaimResult, { kind: "run" }>,
): Promise<RoundResponse> {
  const stop = new Stop();
  request.stop?.add(stop);
  if (request.stop?.reason !== undefined) stop.stop(request.stop.reason);
  const round = new ClaimedRound(core, store, call, ref, log.length, stop);
  const endRenewal = round.renew();
  try {
    const answer = await run(round.goneOn(log), { ...request, stop }, round.hooks);
    // What came of it because the store failed is no answer: the round can be sent again.
    if (round.trouble !== undefined) throw storeTrouble(round.trouble);
    if (answer.kind === "none") {
      await store.releaseRound(ref);
      return answer;
    }
    if (await fromStore(store.endRound(ref, sealAnswer(core, call, answer)))) return answer;
    // Somebody else has it: what they make of it is the response.
    return await runOnce(core, store, call, request, run);
  } catch (error) {
    await store.releaseRound(ref).catch(() => {});
    throw error;
  } finally {
    request.stop?.remove(stop);
    endRenewal();
  }
}

class ClaimedRound {
  /** What the store said last when it did not take a record. */
  trouble: unknown;
  readonly #core: Core;
  readonly #store: TaskStore;
  readonly #call: Call;
  readonly #ref: ClaimRef;
  readonly #stop: Stop;
  readonly #lease: Lease;
  readonly #events: readonly InboxEvent[];
  #length: number;

  constructor(core: Core, store: TaskStore, call: Call, ref: ClaimRef, length: number, stop: Stop) {
    this.#core = core;
    this.#store = store;
    this.#call = call;
    this.#ref = ref;
    this.#length = length;
    this.#stop = stop;
    this.#lease = new Lease([() => performance.now(), Date.now], store.leaseMs);
    this.#events = [...call.inbox.unused()];
  }

  /** The call with what an attempt that died has recorded in this round. */
  goneOn(log: readonly string[]): Call {
    const call = this.#call;
    const { journal } = call;
    const entries = readEntries(vaultOf(this.#core), this.#place(call.id()), log, journal.entries);
    // A fresh inbox: should the round be taken over and come back, its answers are there again.
    const inbox = new Inbox(this.#events);
    // All its members are its own: it is no first round.
    return { ...call, inbox, journal: { ...journal, entries } };
  }

  get hooks(): RecordHooks {
    return {
      append: (entry) => this.#append(entry),
      cut: (from, back) => this.#cut(from, back),
      mayStart: () => !this.#lease.isOver,
    };
  }

  /** While it runs. Returns the function that ends it. */
  renew(): () => void {
    const { environment } = this.#core;
    const { leaseMs } = this.#store;
    let isOver = false;
    let callOff: (() => void) | undefined;
    const again = () => {
      callOff = environment.eventually(leaseMs / 3, () => void once());
    };
    const once = async () => {
      const mark = this.#lease.mark();
      const isOurs = await this.#store.renewRound(this.#ref, leaseMs).catch(() => undefined);
      if (isOver) return;
      if (isOurs === true) this.#lease.renew(mark, leaseMs);
      // Not to be reached: good until the lease is over.
      if (isOurs === false || this.#lease.isOver) this.#stop.stop("LostLease");
      else again();
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

  /** Tries for as long as the lease lasts: a record that is lost is a body run again. */
  async #write(record: string): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        const isOurs = await this.#store.appendToRound(this.#ref, this.#length, record);
        if (!isOurs) this.#stop.stop("LostLease");
        this.#length += 1;
        return;
      } catch (error) {
        this.trouble = error;
        if (this.#lease.isOver) throw error;
      }
      const pauseMs = backOff(tries, { firstMs: 25, mostMs: 1_000 });
      await new Promise<void>((resolve) => this.#core.environment.eventually(pauseMs, resolve));
      this.trouble = undefined;
    }
  }

  #place(callId: string): string {
    return `${callId}/round-${this.#call.round}`;
  }
}

const answerPlace = (call: Call) => `${call.id()}/round-${call.round}/answer`;

function sealAnswer(core: Core, call: Call, answer: RoundResponse): string {
  const { cause: _cause, ...kept } = { cause: undefined, ...answer };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
  return sealJson(vaultOf(core), kept as unknown as Json, answerPlace(call));
}

function openAnswer(core: Core, call: Call, response: string): RoundResponse {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `sealAnswer`
  return openJson(vaultOf(core), response, answerPlace(call)) as unknown as RoundResponse;
}
