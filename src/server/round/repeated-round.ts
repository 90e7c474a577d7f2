// Long on purpose: a round that the store records, from its claim to its stored response.
// `once: true` (R14): a round that is sent again, by an impatient client or a retrying proxy, runs once. The store decides
// which request runs it, and keeps its entries and its response for the other requests.

import { invalidParams } from "../../protocol/error-codes.ts";
import { isIdempotencyKey } from "../../protocol/idempotency-key.ts";
import { Inbox } from "../../replay/inbox.ts";
import type { InboxEvent } from "../../replay/inbox.ts";
import type { Entry } from "../../replay/journal.ts";
import { Stop } from "../../replay/stop.ts";
import type { Stoppable, StopReason } from "../../replay/stop.ts";
import { errorText } from "../../util/error-text.ts";
import { backOff } from "../../util/timers.ts";
import { Lease } from "../../tasks/execution/lease-time.ts";
import { cutRecord, entryRecord, readEntries } from "../../tasks/execution/log-records.ts";
import type { RoundClaimResult, TaskStore } from "../../tasks/store.ts";
import type { ClaimRef } from "../../tasks/task.ts";
import { openJson, sealJson } from "../../tasks/sealing.ts";
import type { Json } from "../../util/json.ts";
import { shortDigest } from "../../token/canonical.ts";
import { TokenError } from "../../token/errors.ts";
import type { Call } from "./call.ts";
import type { Recording } from "./call-carrier.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import { badKey, sentKey, usedKey } from "./first-request.ts";
import type { RoundResponse, RoundRequest } from "./request.ts";
import { endedBefore, RoundUndo } from "./round-undo.ts";
import { fromStore, storeTrouble, StoreTrouble } from "../tasks/store-needed.ts";

type RunRound = (call: Call, request: RoundRequest, recording: Recording) => Promise<RoundResponse>;

const ttlMarginMs = 60_000;

/** Runs the round, or waits for the response of the request that runs it. */
export async function runOnce(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
  run: RunRound,
): Promise<RoundResponse> {
  const isFirst = call.tokenExpiresAt === undefined;
  if (isFirst) {
    const key = sentKey(request);
    // Without a token and a key, a copy of this request is another call, so no body starts in it.
    if (key === undefined) return run(call, request, { mayStart: () => "later" });
    if (!isIdempotencyKey(key)) return badKey;
  }
  const { target, principal = "" } = call.binding();
  await fromStore(
    core.tasks?.shares.admit(principal, 0, `The round of "${target}"`) ?? Promise.resolve(),
  );
  const patience = core.environment.now() + core.limits.tokenTtlMs;
  for (;;) {
    const claim = await fromStore(claimOf(core, store, call, request));
    switch (claim.kind) {
      case "run": {
        const drain = new Stop();
        const running = runClaimed(core, store, call, request, run, claim, drain);
        core.tasks?.process.addRound(drain, running);
        const response = await Promise.race([running, hangUp(core, call, request, running)]);
        // Another request may have the round by now, so its response counts. If none has, this one claims the round again.
        if (response !== "lost") return response;
        if (core.environment.now() > patience) throw storeTrouble(lostRound);
        break;
      }
      case "ended":
        return openResponse(core, call, request, claim.response);
      case "superseded":
        return isFirst ? usedKey : superseded;
      case "running":
        if (request.stop?.reason !== undefined) return { kind: "none" };
        if (core.environment.now() > patience) return superseded;
        await new Promise<void>((resolve) => core.environment.after(100, resolve));
    }
  }
}

const lostRound = new Error("The lease of a round was lost again and again.");

/**
 * Resolves when the client hangs up. The run goes on without it: the client, or a proxy in between, may send the round again,
 * and then waits for this run instead of starting another.
 */
function hangUp(
  core: Core,
  call: Call,
  { stop }: RoundRequest,
  running: Promise<unknown>,
): Promise<RoundResponse> {
  return new Promise((resolve) => {
    if (stop === undefined) return;
    const listener = {
      stop: (reason: StopReason) => {
        if (reason !== "Disconnected") return;
        resolve({ kind: "none" });
        running.catch((error: unknown) => {
          const about = { call: call.id() };
          if (error instanceof StoreTrouble) core.storeFailed(error.cause, about);
          else core.logger.error(`A round failed: ${errorText(error)}`, about);
        });
      },
    };
    if (stop.reason !== undefined) return listener.stop(stop.reason);
    stop.add(listener);
    running.then(
      () => stop.remove(listener),
      () => stop.remove(listener),
    );
  });
}

const superseded: RoundResponse = {
  kind: "error",
  code: invalidParams,
  message:
    "This round was sent before with other answers, or a later round has begun. Continue from the newest requestState.",
  data: { reason: "superseded_round" },
};

function claimOf(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
): Promise<RoundClaimResult> {
  const { environment, limits } = core;
  const { tokenExpiresAt = 0 } = call;
  return store.claimRound({
    principal: call.binding().principal ?? "",
    callId: call.id(),
    round: call.round,
    answers: contentsOf(call, request),
    leaseMs: store.leaseMs,
    // Kept for as long as any token of this call is valid.
    ttlMs: Math.max(tokenExpiresAt - environment.now(), limits.tokenTtlMs) + ttlMarginMs,
  });
}

/** Runs the round to its end. "lost": the lease ran out, so another request may have the round by now. */
async function runClaimed(
  core: Core,
  store: TaskStore,
  call: Call,
  request: RoundRequest,
  run: RunRound,
  { ref, log }: Extract<RoundClaimResult, { kind: "run" }>,
  drain: Stop,
): Promise<RoundResponse | "lost"> {
  const stop = new Stop();
  // A client that hangs up does not stop the run, because the round may be sent again. One that cancels does.
  const cancel: Stoppable = {
    stop: (reason) => {
      if (reason !== "Disconnected") stop.stop(reason);
    },
  };
  request.stop?.add(cancel);
  if (request.stop?.reason !== undefined) cancel.stop(request.stop.reason);
  const round = new ClaimedRound(core, store, call, ref, log.length, stop);
  const endRenewal = round.renew();
  try {
    const before = endedBefore(core, log, round.place);
    if (before !== undefined) {
      round.resumed(log.slice(0, -1));
      await fromStore(round.undo.hand(before));
      const isOurs = await fromStore(
        store.endRound(ref, sealResponse(core, call, request, before)),
      );
      return isOurs ? before : "lost";
    }
    const response = await run(
      round.resumed(log),
      { ...request, stop },
      {
        ...round.recording,
        drain,
        // Each round is claimed once, unless an attempt at one of them died. The first one is claimed only if it has a key.
        isInterrupted: ref.epoch > Math.max(1, call.round - 1),
      },
    );
    const last = round.trouble === undefined ? round.undo.lastOf(response, stop) : undefined;
    if (last !== undefined) {
      if (!(await round.undo.end(last))) return "lost";
      await fromStore(round.undo.hand(last));
      const isOurs = await fromStore(store.endRound(ref, sealResponse(core, call, request, last)));
      return isOurs ? response : "lost";
    }
    // A response that comes from a failing store does not count. The client can send the round again.
    if (round.trouble !== undefined) throw storeTrouble(round.trouble);
    if (response.kind === "none") {
      // The process that runs the round next must not start a body that is still running here.
      await round.bodiesEnd();
      await fromStore(store.releaseRound(ref));
      return stop.reason === "LostLease" ? "lost" : response;
    }
    const sealed = sealResponse(core, call, request, response);
    const isOurs = await fromStore(store.endRound(ref, sealed));
    return isOurs ? response : "lost";
  } catch (error) {
    await store.releaseRound(ref).catch(() => {});
    throw error;
  } finally {
    request.stop?.remove(cancel);
    endRenewal();
  }
}

class ClaimedRound {
  /** The last error of the store, if it did not accept a record. */
  trouble: unknown;
  readonly #core: Core;
  readonly #store: TaskStore;
  readonly #call: Call;
  readonly #ref: ClaimRef;
  readonly #stop: Stop;
  readonly #lease: Lease;
  readonly #bodies = new Set<Promise<void>>();
  #length: number;
  #isLost = false;
  readonly undo: RoundUndo;

  constructor(core: Core, store: TaskStore, call: Call, ref: ClaimRef, length: number, stop: Stop) {
    this.#core = core;
    this.#store = store;
    this.#call = call;
    this.#ref = ref;
    this.#length = length;
    this.#stop = stop;
    this.#lease = new Lease([() => performance.now(), Date.now], store.leaseMs);
    this.undo = new RoundUndo(core, call, this.place, {
      append: (entry) => this.#append(entry),
      write: async (record) => {
        await this.#write(record(this.#length));
        return !this.#isLost;
      },
      bodiesEnd: () => this.bodiesEnd(),
    });
  }

  /** The call with the entries that an earlier attempt at this round has recorded before it died. */
  resumed(log: readonly string[]): Call {
    const call = this.#call;
    const { journal } = call;
    const entries = readEntries(sealerOf(this.#core), this.place, log, journal.entries);
    this.undo.entries = [...entries];
    // A fresh inbox, so that the answers are there again if the round is taken over and comes back.
    const inbox = new Inbox(call.arrived);
    return resumedCall(call, inbox, { ...journal, entries });
  }

  get recording(): Recording {
    return {
      append: (entry) => this.#append(entry),
      cut: (from, back) => this.#cut(from, back),
      mayStart: () => {
        if (!this.#lease.isOver) return true;
        this.#stop.stop("LostLease");
        return false;
      },
      onThrow: () => this.undo.onThrow(),
      onLeft: (entry) => void this.undo.left.push(entry),
      onBody: (end) => {
        this.#bodies.add(end);
        void end.then(() => this.#bodies.delete(end));
      },
    };
  }

  /** Resolves when no body of this run is running any more. */
  async bodiesEnd(): Promise<void> {
    await Promise.all(this.#bodies);
  }

  /** Renews the lease while the round runs. Returns the function that ends the renewals. */
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
      // If the store cannot be reached, the round stays ours until the lease ends.
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
    const { place } = this;
    await this.#write(entryRecord(sealerOf(this.#core), place, this.#length, entry));
    this.undo.entries.push(entry);
  }

  /** The answers that go back to the inbox are not stored here, because they are in the token. */
  async #cut(from: number, _back: readonly InboxEvent[]): Promise<void> {
    const { place } = this;
    await this.#write(cutRecord(sealerOf(this.#core), place, this.#length, from));
    this.undo.entries.length = from;
  }

  /** Retries for as long as the lease lasts, because a lost record means that a body runs again. */
  async #write(record: string): Promise<void> {
    const { target, principal = "" } = this.#call.binding();
    await this.#core.tasks?.shares.grow(principal, record.length, `The record of "${target}"`);
    for (let tries = 1; ; tries += 1) {
      try {
        const isOurs = await this.#store.appendToRound(this.#ref, this.#length, record);
        if (!isOurs) {
          this.#isLost = true;
          this.#stop.stop("LostLease");
        }
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

  get place(): string {
    return `${this.#call.id()}/round-${this.#call.round}`;
  }
}

// The name in the path stays: responses that are in a store were sealed under it.
const responsePlace = (call: Call) => `${call.id()}/round-${call.round}/answer`;

function sealResponse(core: Core, call: Call, request: RoundRequest, response: RoundResponse) {
  const { cause: _cause, ...own } = { cause: undefined, ...response };
  const kept = { ...own, [answeredMark]: contentsOf(call, request) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what goes on the wire is JSON
  return sealJson(sealerOf(core), kept as unknown as Json, responsePlace(call));
}

function openResponse(
  core: Core,
  call: Call,
  request: RoundRequest,
  response: string,
): RoundResponse {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `sealResponse`
  const kept = openJson(
    sealerOf(core),
    response,
    responsePlace(call),
  ) as unknown as RoundResponse & {
    readonly [answeredMark]?: string;
  };
  const { [answeredMark]: answers, ...own } = kept;
  // The row says that it answers this request. Version 0.1.0 did not seal what it answers.
  if (answers !== undefined && answers !== contentsOf(call, request))
    throw new TokenError("forged");
  return own;
}

/** The member of a sealed response that says which answers it is the response to. */
const answeredMark = "~answers";

/** What a copy of the request must also contain. The token of a later round binds it to its arguments. */
function contentsOf(call: Call, { inputResponses = {} }: RoundRequest): string {
  const isFirst = call.tokenExpiresAt === undefined;
  return shortDigest(isFirst ? [call.binding().argumentsDigest, inputResponses] : inputResponses);
}

/** Written out, because the members of a first round are on its prototype, and a spread would not copy them. */
function resumedCall(call: Call, inbox: Inbox, journal: Call["journal"]): Call {
  const { round, roundsLeft, tokenExpiresAt, abilities, era, answers, arrived, lowLevel } = call;
  return {
    id: () => call.id(),
    round,
    roundsLeft,
    tokenExpiresAt,
    binding: () => call.binding(),
    abilities,
    ways: call.ways,
    era,
    journal,
    inbox,
    arrived,
    answers,
    mailed: call.mailed,
    lowLevel,
    inputDigest: () => call.inputDigest(),
    version: call.version,
    yields: call.yields,
    objection: call.objection,
    firstSpan: call.firstSpan,
    span: call.span,
  };
}
