// A state that is too large for its token is kept in the store, and the token holds a sealed pointer to it.

import { openJson, sealJson } from "../../tasks/sealing.ts";
import type { Json } from "../../util/json.ts";
import { shortDigest } from "../../token/canonical.ts";
import type { Binding } from "../../token/claims.ts";
import { TokenError } from "../../token/errors.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import type { PackedState } from "./state.ts";
import { fromStore } from "../tasks/store-needed.ts";

const placeOf = (callId: string, pointer: string) => `${callId}/spill/${pointer}`;

/** What this file needs from the call. */
interface SpilledCall {
  readonly id: () => string;
  readonly round: number;
  readonly binding: () => Binding;
}

/** Stores the state and returns the pointer. Undefined without a store, or if the state is too large even for that. */
export function spill(
  core: Core,
  call: SpilledCall,
  state: PackedState,
  expiresAt: number,
): Promise<string> | undefined {
  const { store, limits } = core;
  if (store === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a packed state is made of JSON
  const json = state as unknown as Json;
  // A round that is sent again usually makes the same state, which replaces the first one. A different state must not
  // replace it, because the client may also use the token of the first one.
  const pointer = `${call.id()}.${call.round}.${shortDigest(json)}`;
  const sealed = sealJson(sealerOf(core), json, placeOf(call.id(), pointer));
  if (sealed.length > limits.taskLogBytes) return undefined;
  return write(core, call, pointer, sealed, expiresAt);
}

async function write(
  core: Core,
  call: SpilledCall,
  pointer: string,
  sealed: string,
  expiresAt: number,
): Promise<string> {
  const { target, principal = "" } = call.binding();
  await fromStore(
    (async () => {
      await core.tasks?.ready();
      const save = async () => {
        const ttlMs = expiresAt - core.environment.now();
        await core.store?.spill(pointer, sealed, ttlMs, principal);
      };
      const what = `The state of "${target}"`;
      await (core.tasks?.shares.write(principal, sealed.length, what, save) ?? save());
    })(),
  );
  return pointer;
}

/** Reads the state behind a pointer. Throws TokenError if the store no longer has it. */
export async function fetchSpilled(
  core: Core,
  callId: string,
  pointer: string,
): Promise<PackedState> {
  const sealed = await fromStore(
    (async () => {
      await core.tasks?.ready();
      return core.store?.spilled(pointer);
    })(),
  );
  if (sealed === undefined) throw new TokenError("expired");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `spill`
  return openJson(sealerOf(core), sealed, placeOf(callId, pointer)) as unknown as PackedState;
}
