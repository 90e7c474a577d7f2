// The pages of questions whose call has no more rounds, because it has ended or become a task.

import type { Core } from "../core.ts";
import { mailIn, withdraw } from "../pages/mailbox.ts";
import type { PageKey } from "../pages/page-address.ts";
import { errorText } from "../../util/error-text.ts";
import type { Json } from "../../util/json.ts";
import type { Call } from "./call.ts";
import type { RoundResponse } from "./request.ts";

/** Whether a question of the round before has a page. */
export const hadPages = ({ journal }: Call): boolean =>
  journal.out.length > 0 && journal.out.some(({ asked }) => asked !== undefined);

/** Takes care of the pages of a call whose rounds are over, and returns the response as it is. */
export async function leavePages(
  core: Core,
  call: Call,
  responding: RoundResponse | Promise<RoundResponse>,
): Promise<RoundResponse> {
  const response = await responding;
  if (response.kind === "complete" || response.kind === "error") await closePages(core, call);
  if (response.kind === "task") await forward(core, call);
  return response;
}

/** Withdraws the questions. The response does not depend on it, so a failure is only logged. */
async function closePages(core: Core, call: Call): Promise<void> {
  try {
    for (const slot of slotsOf(call)) await withdraw(core, slot);
  } catch (error) {
    core.logger.warn(`The page of a question could not be closed: ${errorText(error)}`, {
      call: call.id(),
    });
  }
}

/**
 * Gives the task what has come since this round looked. What comes later finds the task (`pages/tickets.ts`), because the task
 * was there before this look.
 */
async function forward(core: Core, call: Call): Promise<void> {
  for (const slot of slotsOf(call)) {
    const mail = await mailIn(core, slot);
    if (typeof mail !== "object") continue;
    const { answer, from } = mail;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was sealed as JSON
    await core.tasks?.deliver(slot.callId, slot.key, slot.digest, answer as Json, from);
  }
}

function slotsOf(call: Call): PageKey[] {
  return call.journal.out.flatMap(({ key, digest = "", asked }) =>
    asked === undefined || call.mailed.has(key) ? [] : [{ callId: call.id(), key, digest, asked }],
  );
}
