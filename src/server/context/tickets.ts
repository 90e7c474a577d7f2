// Tickets that come back: a page reads one to know its question, an approver's page delivers a value with one.

import { ParleyError } from "../../errors.ts";
import type { Delivery } from "../../tasks/runtime.ts";
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

/** Answers the `ctx.waitFor` that the ticket stands for. */
export async function deliver(core: Core, ticket: string, value: unknown): Promise<Delivery> {
  const { kind, callId, key } = readTicket(core, ticket);
  if (kind !== "external") {
    throw new ParleyError(
      "bad_ticket",
      "This ticket is for a page. app.deliver takes a ticket of ctx.waitFor.",
    );
  }
  const { tasks } = core;
  if (tasks === undefined) throw noStore("app.deliver()");
  const outcome = await tasks.deliver(callId, key, externalDigest(key), asJson(key, value));
  core.logger.info(`app.deliver for "${key}": ${outcome}`, { call: callId, key, outcome });
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
