// Races of decisions: with each other, with a cancellation, with the time limit and with a takeover. The replicas of an app
// share a store. Whatever comes first, there is one outcome, one entry, and a record of every decision.

import { parley, ParleyError, UnansweredError } from "mcp-parley";
import type { App, AuditRecord, DecideResult, Store } from "mcp-parley";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { callTool, envelope, exchange } from "../wire/post.ts";
import { losable } from "./losable.ts";
import type { Losable } from "./losable.ts";
import { auth, principal } from "./named-tokens.ts";

export const kinds = [
  "two last approvals",
  "approve against decline",
  "decide against cancel",
  "decide against expiry",
  "decide against takeover",
  "the same person twice",
] as const;
type Kind = (typeof kinds)[number];

const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const sending = { headers: { authorization: "Bearer ada" } };
const Args = z.object({ of: z.int(), timeoutMs: z.int().optional(), nonce: z.string() });

/** Numbers from 0 to 1, the same for the same seed. */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What one call has shown. */
interface Seen {
  ticket?: string;
  /** What `notify` waits for, while the task is held. */
  readonly holding?: Promise<void>;
  readonly outcomes: string[];
}

/** Two replicas on one store, and a third for each race in which a worker is lost. */
export class Races {
  #apps: App[] = [];
  readonly #third: Store;
  readonly #seen = new Map<string, Seen>();
  readonly #records: AuditRecord[] = [];

  private constructor(third: Store) {
    this.#third = third;
  }

  /** Opens two replicas. They and those that will be lost have their own connections to the same store. */
  static async open(stores: readonly Store[], third: Store): Promise<Races> {
    const races = new Races(third);
    races.#apps = stores.map((store) => races.#app(store));
    for (const app of races.#apps) await app.work();
    return races;
  }

  #app(store: Store): App {
    const audit = (record: AuditRecord) => this.#records.push(record);
    const settings = { name: "races", version: "1.0.0", keys, logger: quiet };
    const app = parley({ ...settings, store, auth, principal, audit });
    app.tool(
      "pay",
      { task: "optional", inputSchema: Args },
      async ({ of, timeoutMs, nonce }, ctx) => {
        const outcome = await ctx
          .approve("pay", "Pay?", {
            by: "managers",
            of,
            timeoutMs,
            notify: async ({ ticket }) => {
              const seen = this.#of(nonce);
              seen.ticket = ticket;
              await seen.holding;
            },
          })
          .then(
            ({ decisions }) => `approved ${decisions.map(({ who }) => who).join()}`,
            (error: unknown) => {
              if (!(error instanceof UnansweredError)) throw error;
              return `${error.reason} ${error.decisions.map(({ who }) => who).join()}`;
            },
          );
        await ctx.step("end", () => void this.#of(nonce).outcomes.push(outcome));
        return outcome;
      },
    );
    return app;
  }

  #of(nonce: string): Seen {
    const seen = this.#seen.get(nonce) ?? { outcomes: [] };
    this.#seen.set(nonce, seen);
    return seen;
  }

  async close(): Promise<void> {
    for (const app of this.#apps) await app.close();
  }

  /** One race. Resolves to what is wrong, or to undefined. */
  async round(kind: Kind, seed: number): Promise<string | undefined> {
    const chance = chanceOf(seed);
    const [one, other] = chance() < 0.5 ? this.#apps : this.#apps.toReversed();
    if (one === undefined || other === undefined) throw new Error("Two replicas are needed.");
    const nonce = `${kind} ${seed}`;
    const timeoutMs = kind === "decide against expiry" ? 40 + Math.floor(chance() * 40) : undefined;
    const args = { of: 2, nonce, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const doomed = kind === "decide against takeover" ? await this.#doomed(nonce) : undefined;
    const first = doomed?.app ?? one;
    const { result } = await callTool(first, "pay", args, { capabilities, ...sending });
    const taskId = String(result?.["taskId"]);
    const seen = this.#of(nonce);
    await until(() => seen.ticket !== undefined || seen.outcomes.length > 0);
    const { ticket } = seen;
    if (ticket === undefined) return undefined;
    const callId = callOf(one, ticket);
    if (callId === undefined) return undefined;
    const results: [string, DecideResult][] = [];
    const decide = async (app: App, who: string, approve = true) => {
      try {
        const decided = await app.decide(ticket, { who, groups: ["managers"], approve });
        results.push([who, decided]);
      } catch (error) {
        // The ticket is good for about as long as the approval.
        if (!(error instanceof ParleyError) || error.code !== "bad_ticket") throw error;
      }
    };
    const cancel = () =>
      exchange(other, envelope("tasks/cancel", { taskId }, { capabilities }), sending);
    const pause = () => wait(chance() * 4);
    switch (kind) {
      case "two last approvals":
        await decide(one, "bo");
        await Promise.all([decide(one, "cy"), decide(other, "di"), decide(one, "ed")]);
        break;
      case "approve against decline":
        await decide(one, "bo");
        await Promise.all([decide(one, "cy"), pause().then(() => decide(other, "di", false))]);
        break;
      case "decide against cancel":
        await decide(one, "bo");
        await Promise.all([decide(one, "cy"), pause().then(cancel)]);
        break;
      case "decide against expiry":
        await decide(one, "bo");
        await wait(Math.max(0, (timeoutMs ?? 0) - 25 + chance() * 25));
        await decide(other, "cy");
        break;
      case "decide against takeover": {
        // The process that holds the task is lost while the decisions come in, and its lease runs out.
        doomed?.lose(Math.floor(chance() * 4));
        await Promise.all([decide(one, "bo"), pause().then(() => decide(other, "cy"))]);
        await until(() => doomed?.isLost() === true);
        break;
      }
      case "the same person twice":
        await Promise.all([decide(one, "bo"), decide(other, "bo"), decide(one, "bo", false)]);
        await Promise.all([decide(one, "cy"), decide(other, "cy")]);
        break;
    }
    let status: unknown;
    await until(async () => {
      const read = await exchange(
        one,
        envelope("tasks/get", { taskId }, { capabilities }),
        sending,
      );
      status = read.result?.["status"];
      return status !== "working" && status !== "input_required";
    });
    return this.#verdict(kind, callId, results, seen.outcomes, String(status));
  }

  /** A replica that will be lost. Its worker holds the task that it begins, until then. */
  async #doomed(nonce: string) {
    const { store, loseAfter, isLost }: Losable = losable(this.#third);
    const app = this.#app(store);
    await app.work();
    let letGo: (() => void) | undefined;
    const holding = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    this.#seen.set(nonce, { holding, outcomes: [] });
    const lose = (operations: number) => {
      loseAfter(operations);
      letGo?.();
    };
    return { app, lose, isLost };
  }

  #verdict(
    kind: Kind,
    callId: string,
    results: readonly (readonly [string, DecideResult])[],
    outcomes: readonly string[],
    status: string,
  ): string | undefined {
    const told = JSON.stringify({
      kind,
      results: results.map(([who, { status: is }]) => [who, is]),
      outcomes,
      status,
    });
    const of = (...statuses: readonly string[]) =>
      results.filter(([, { status: is }]) => statuses.includes(is));
    const final = of("approved", "declined");
    if (final.length > 1) return `Two decisions completed it: ${told}`;
    // A step whose worker was lost before it was recorded runs again.
    const ends = kind === "decide against takeover" ? new Set(outcomes).size : outcomes.length;
    if (ends > 1) return `It ended twice: ${told}`;
    const [outcome] = outcomes;
    const counted = of("counted", "approved", "declined").map(([who]) => who);
    if (new Set(counted).size !== counted.length) return `Someone counted twice: ${told}`;
    // A completed outcome is the one entry, unless the call was cancelled before its handler got it.
    const word = final[0]?.[1].status;
    if (word !== undefined && outcome !== undefined && !outcome.startsWith(word))
      return `Another outcome: ${told}`;
    if (word !== undefined && status === "completed") {
      const people = (outcome?.split(" ")[1] ?? "").split(",").toSorted().join();
      if (people !== counted.toSorted().join()) return `Other people: ${told}`;
    }
    if (word === undefined && outcome?.startsWith("approved") === true)
      return `Nobody completed it: ${told}`;
    const records = this.#records.filter((record) => record.callId === callId);
    const ids = (...actions: readonly string[]) =>
      new Set(records.filter(({ action }) => actions.includes(action)).map(({ id }) => id)).size;
    if (ids("approved", "rejected") !== counted.length)
      return `The audit lacks a decision: ${told}`;
    const late = of("already_decided", "gone").length;
    if (ids("too_late") !== late) return `The audit lacks a late decision: ${told}`;
    return ids("asked") === 1 ? undefined : `It was not recorded that it was asked: ${told}`;
  }
}

/** Undefined if the ticket has expired already. */
function callOf(app: App, ticket: string): string | undefined {
  try {
    return app.readTicket(ticket).callId;
  } catch {
    return undefined;
  }
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits for a state, for up to a minute. */
async function until(isIt: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 6_000; tries += 1) {
    if (await isIt()) return;
    await wait(10);
  }
  throw new Error("It did not happen within a minute.");
}
