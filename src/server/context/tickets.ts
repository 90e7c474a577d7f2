// Tickets that come back: a page reads one to know its question, an approver's page delivers a value with one.

import { ParleyError } from "../../errors.ts";
import { openTicket } from "../../token/ticket.ts";
import type { Ticket } from "../../token/ticket.ts";
import { NotJson, toJson } from "../../util/json.ts";
import type { Json } from "../../util/json.ts";
import { externalDigest } from "./questions.ts";
import type { Core } from "../core.ts";
import { noStore } from "../tasks/store-needed.ts";

/** Throws ParleyError "bad_ticket" for a ticket that this server has not sealed, or that has expired. */
export function readTicket(core: Core, ticket: string): Ticket {
  const { name, environment } = core;
  return openTicket(ticket, core.keyring(), { audience: name, now: environment.now() });
}

/** What became of a delivery. */
export type DeliverResult =
  | {
      /**
       * "delivered": this answer counts. "already_answered": another one came first. "gone": the call has ended, or the time
       * limit of the question has passed.
       */
      readonly status: "delivered" | "already_answered" | "gone";
    }
  | {
      /** The value does not fit the schema of the question, which stays open. */
      readonly status: "invalid";
      /** What is wrong with the value. */
      readonly reason: string;
    };

/** Answers the `ctx.waitFor` that the ticket stands for. */
export async function deliver(core: Core, ticket: string, value: unknown): Promise<DeliverResult> {
  const { kind, callId, key } = readTicket(core, ticket);
  if (kind !== "external") {
    throw new ParleyError(
      "bad_ticket",
      "This ticket is for a page. app.deliver takes a ticket of ctx.waitFor.",
    );
  }
  const { tasks } = core;
  if (tasks === undefined) throw noStore("app.deliver()");
  const json = asJson(key, value);
  const reason = await tasks.objection(callId, key, json);
  const outcome: DeliverResult =
    reason === undefined
      ? { status: await tasks.deliver(callId, key, externalDigest(key), json) }
      : { status: "invalid", reason };
  const { status } = outcome;
  core.logger.info(`app.deliver for "${key}": ${status}`, { call: callId, key, outcome: status });
  return outcome;
}

function asJson(key: string, value: unknown): Json {
  try {
    return toJson(value) ?? null;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new ParleyError(
      "not_json",
      `The value delivered for "${key}" has ${error.message}, which JSON cannot restore. Deliver plain data, for example ${error.advice}.`,
    );
  }
}
