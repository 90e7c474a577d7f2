// A round that ends without a question: the client gets the state alone and sends the next round at once, which may
// reach another instance. Answers that no run has used yet travel in the state, so that the person is not asked again.

import type { InboxEvent } from "../../replay/inbox.ts";
import { isAnswer } from "../../replay/journal.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { Call } from "./call.ts";
import type { RoundResponse } from "./request.ts";
import type { CallState } from "./state.ts";
import { inputRequiredResponse } from "./suspend.ts";

/** What the next round starts with. */
export type CarriedState = Pick<CallState, "entries" | "out" | "unused"> &
  Partial<Pick<CallState, "version" | "yields">>;

/** The response that carries this state, and asks nothing. */
export function stateOnly(
  core: Core,
  definition: Definition,
  call: Call,
  carried: CarriedState,
): RoundResponse | Promise<RoundResponse> {
  const state = { ...carried, lowLevel: call.lowLevel };
  return inputRequiredResponse(core, definition, call, state, []);
}

/** The state as the round found it, with the answers that the request has brought, as if the handler had not run. */
export function asItCame({ journal, arrived }: Call): CarriedState {
  const { entries, out } = journal;
  const recorded = new Set(entries.filter(isAnswer).map(({ key }) => key));
  const isNew = ({ kind, key, digest }: InboxEvent) =>
    kind === "answer" && digest !== undefined && !recorded.has(key);
  return { entries, out, unused: arrived.filter(isNew) };
}
