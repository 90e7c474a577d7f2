// A paused call in the store: everything that its continuation needs, sealed, under a handle that a model copies.
//
// Pauses are numbered. Each is written under its own number once, and under the handle alone as the place to start
// looking. So a replica that is late cannot take the call back: a request that finds an old pause goes on to the ones
// after it.

import { ParleyError } from "../../errors.ts";
import type { InputRequest } from "../../protocol/input-required.ts";
import { openJson, sealJson } from "../../tasks/sealing.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { digest } from "../../token/canonical.ts";
import { TokenError } from "../../token/errors.ts";
import type { Json } from "../../util/json.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import type { PageKey } from "../pages/page-address.ts";
import type { OpenWays, Way } from "../round/ways.ts";
import { fromStore } from "../tasks/store-needed.ts";

/** A question that a paused call waits for. */
export interface PausedQuestion {
  readonly way: Way;
  readonly request: InputRequest;
}

/** The questions of a pause, by key. */
export type PausedQuestions = Readonly<Record<string, PausedQuestion>>;

/** A paused call. */
export interface Pause {
  /** The number of this pause in its call, from 1. */
  readonly number: number;
  readonly tool: string;
  readonly arguments: Json;
  /** Null without credentials. */
  readonly principal: string | null;
  /** When the handle expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  readonly questions: PausedQuestions;
  /** The state of a call in rounds. Empty if the call has become a task or has ended. */
  readonly requestState: string;
  /** The task that the call has become. */
  readonly task?: string | undefined;
  /** The ways of the task's questions. */
  readonly ways?: OpenWays | undefined;
  /** When the first time limit of a question passes. */
  readonly dueAt?: number | undefined;
  /** The answers that pages may have brought meanwhile. */
  readonly mail?: readonly PageKey[] | undefined;
  /** The secret that an App proves itself with. */
  readonly secret?: string | undefined;
  /** What led from the pause before to this one. */
  readonly before?: Continuation | undefined;
  /** The call has ended. Its last response is that of `before`. */
  readonly isOver?: boolean | undefined;
}

/** One continuation of a call, which gets the recorded response if it is sent again. */
export interface Continuation {
  readonly requestState: string;
  readonly questions: PausedQuestions;
  readonly responses: Readonly<Record<string, object>>;
}

/** 128 random bits in 22 letters and digits, because a model has to copy it. */
export const newHandle = ({ environment }: Core): string => base62(environment.newId());

function base62(hex: string): string {
  let left = BigInt(`0x${hex}`);
  let text = "";
  for (let place = 0; place < handleLength; place += 1) {
    text = `${alphabet[Number(left % 62n)]}${text}`;
    left /= 62n;
  }
  return text;
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const handleLength = 22;

// The store holds digests, so that its reader cannot continue calls. The prefix is what `limits.paused` counts.
const openPrefix = "pause.";
const latestId = (handle: string) => `${openPrefix}${digest(handle)}`;
const overId = (handle: string) => `paused.${digest(handle)}`;
const numberedId = (handle: string, number: number) => `paused-${number}.${digest(handle)}`;
const placeOf = (handle: string) => `pause/${digest(handle)}`;

/** Keeps a pause. Throws ParleyError "too_many_paused" if this caller has too many already. */
export async function keepPause(core: Core, handle: string, pause: Pause): Promise<void> {
  const store = await storeOf(core);
  const principal = pause.principal ?? "";
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what comes from the wire and the token is JSON
  const sealed = sealJson(sealerOf(core), pause as unknown as Json, placeOf(handle));
  const ttlMs = pause.expiresAt - core.environment.now();
  const isOver = pause.isOver === true;
  const spill = (id: string, text: string, ms: number) =>
    store.spill(store.idFor?.(id, principal) ?? id, text, ms, principal);
  const save = async () => {
    await spill(numberedId(handle, pause.number), sealed, ttlMs);
    await spill(isOver ? overId(handle) : latestId(handle), sealed, ttlMs);
    if (isOver) await spill(latestId(handle), "", 0);
  };
  const what = `The paused call of "${pause.tool}"`;
  const write = async () =>
    core.tasks?.shares.write(principal, 2 * sealed.length, what, save) ?? save();
  await fromStore(pause.number === 1 ? admitted(core, store, principal, write) : write());
}

/** How many new pauses of each caller this process is writing. The store does not count them yet. */
const underWay = new WeakMap<TaskStore, Map<string, number>>();

/** Writes a new pause if its caller has room for it. Of many that come at once, each finds those before it. */
async function admitted(
  core: Core,
  store: TaskStore,
  principal: string,
  write: () => Promise<void>,
): Promise<void> {
  const all = underWay.get(store) ?? new Map<string, number>();
  underWay.set(store, all);
  const before = all.get(principal) ?? 0;
  all.set(principal, before + 1);
  try {
    const count = await store.countSpilled(principal, openPrefix);
    checkRoom(core, principal, count + before);
    await write();
  } finally {
    const left = (all.get(principal) ?? 1) - 1;
    if (left === 0) all.delete(principal);
    else all.set(principal, left);
  }
}

function checkRoom({ limits }: Core, principal: string, count: number): void {
  if (count < limits.paused) return;
  const whose = principal === "" ? "Callers without credentials have" : "This caller has";
  throw new ParleyError(
    "too_many_paused",
    `${whose} ${count} paused calls, and limits.paused allows ${limits.paused}. Continue or cancel one of them, or wait until they expire.`,
  );
}

/** The newest pause of a call. Undefined for a handle that is unknown, has expired, or belongs to another caller. */
export async function findPause(
  core: Core,
  handle: string,
  principal: string | undefined,
): Promise<Pause | undefined> {
  if (!/^[0-9A-Za-z]{22}$/.test(handle)) return undefined;
  const store = await storeOf(core);
  const read = async (id: string): Promise<Pause | undefined> => {
    const placed = store.idFor?.(id, principal ?? "") ?? id;
    const sealed = await fromStore(store.spilled(placed));
    return sealed === undefined ? undefined : opened(core, handle, sealed);
  };
  let pause = (await read(latestId(handle))) ?? (await read(overId(handle)));
  if (pause === undefined || (pause.principal ?? undefined) !== principal) return undefined;
  for (;;) {
    const next = await read(numberedId(handle, pause.number + 1));
    if (next === undefined) return pause;
    pause = next;
  }
}

/** Undefined for a record of another server on the same store, or of a key that is gone. */
function opened(core: Core, handle: string, sealed: string): Pause | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by `keepPause`
    return openJson(sealerOf(core), sealed, placeOf(handle)) as unknown as Pause;
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

async function storeOf(core: Core): Promise<TaskStore> {
  const { store, tasks } = core;
  if (store === undefined)
    throw new ParleyError(
      "no_store",
      "Paused calls are kept in a store, and this app has none. Pass parley({ store }).",
    );
  await fromStore(tasks?.ready() ?? Promise.resolve());
  return store;
}
