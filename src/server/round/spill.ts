// A state that is too large for its token is kept in the store, and the token holds a sealed pointer to it.

import { openJson, sealJson } from "../../tasks/sealing.ts";
import type { Json } from "../../util/json.ts";
import { TokenError } from "../../token/errors.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import type { PackedState } from "./state.ts";
import { fromStore } from "../tasks/store-needed.ts";

const placeOf = (callId: string, pointer: string) => `${callId}/spill/${pointer}`;

/** Stores the state and returns the pointer. Undefined without a store, or if the state is too large even for that. */
export function spill(
  core: Core,
  callId: string,
  state: PackedState,
  expiresAt: number,
): Promise<string> | undefined {
  const { store, environment, limits } = core;
  if (store === undefined) return undefined;
  const pointer = environment.newId();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a packed state is made of JSON
  const sealed = sealJson(sealerOf(core), state as unknown as Json, placeOf(callId, pointer));
  if (sealed.length > limits.taskLogBytes) return undefined;
  return write(core, pointer, sealed, expiresAt - environment.now());
}

async function write(core: Core, pointer: string, sealed: string, ttlMs: number): Promise<string> {
  await fromStore(
    (async () => {
      await core.tasks?.ready();
      await core.store?.spill(pointer, sealed, ttlMs);
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
