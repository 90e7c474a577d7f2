// The attempts to sign in. Each visit of a start link is one: it has a `state` and a PKCE verifier of its own, is bound to
// the browser, and completes once. The store keeps it sealed, under a digest of the `state`.

import { sealerOf } from "../server/core.ts";
import type { Core } from "../server/core.ts";
import { fromStore, noStore } from "../server/tasks/store-needed.ts";
import { openJson, sealJson } from "../tasks/sealing.ts";
import { textHash } from "../token/text-hash.ts";
import type { SignIn } from "./provider.ts";

/** One attempt. Made of JSON. */
export interface Attempt extends SignIn {
  readonly provider: string;
  /** The ticket of the question, as the link has it. */
  readonly ticket: string;
  /** A digest of the cookie of the browser that began. */
  readonly browser: string;
}

/** How long a person has to sign in. */
export const attemptMs: number = 15 * 60_000;

const idOf = (state: string): string => `oauth.${textHash(state)}`;

/** Keeps an attempt. */
export async function keepAttempt(
  core: Core,
  attempt: Attempt,
  principal: string | undefined,
): Promise<void> {
  const { store, tasks } = core;
  if (store === undefined) throw noStore("parley({ connections })");
  const id = idOf(attempt.state);
  const sealed = sealJson(sealerOf(core), { ...attempt }, id);
  const save = () => store.spill(id, sealed, attemptMs, principal ?? "");
  await fromStore(
    (async () => {
      await tasks?.ready();
      const what = `The sign-in at "${attempt.provider}"`;
      await (tasks?.shares.write(principal ?? "", sealed.length, what, save) ?? save());
    })(),
  );
}

/** The attempt with this `state`. Undefined if there is none, or no longer. */
export async function attemptOf(core: Core, state: string): Promise<Attempt | undefined> {
  await fromStore(core.tasks?.ready() ?? Promise.resolve());
  const id = idOf(state);
  const sealed = await fromStore(core.store?.spilled(id) ?? Promise.resolve(undefined));
  if (sealed === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `keepAttempt`
  return openJson(sealerOf(core), sealed, id) as unknown as Attempt;
}

/** Whether the attempt has not been used before. From now on it has. */
export async function useUp(core: Core, { state }: Attempt): Promise<boolean> {
  const filled = await fromStore(
    core.store?.fill(idOf(state), "used") ?? Promise.resolve("gone" as const),
  );
  return filled === "filled";
}
