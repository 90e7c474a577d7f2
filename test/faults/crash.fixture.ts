// One errand whose first engine dies at a given point, and whose second engine continues. Both are in this process.

import { randomBytes } from "node:crypto";
import type { StepInfo } from "../../src/replay/operations.ts";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import type { ClaimResult, CreateResult, RenewalResult, TaskStore } from "../../src/tasks/store.ts";
import { journalOf, serve } from "./client.fixture.ts";
import { errand, promotion } from "./errand.fixture.ts";
import type { Bodies } from "./errand.fixture.ts";
import { interfering } from "./interference.fixture.ts";
import { Life } from "./life.ts";
import type { Point } from "./life.ts";
import { mortal } from "./mortal.fixture.ts";
import type { Started, Story } from "./story.ts";

export interface Fate {
  readonly at?: Point | undefined;
  /** Whether the first engine drains while a body is running. */
  readonly leaves?: boolean | undefined;
}

export interface Told extends Story {
  /** The calls that the first engine made. */
  readonly calls: readonly string[];
  readonly hasty: readonly string[];
  /** What the store returned to the call that arrived late. Undefined if there was none. */
  readonly wasRefused: boolean | undefined;
}

const never = new Promise<never>(() => {});
const anHour = 3_600_000;

/** A dead engine needs some time to give up on its store. */
const burials: Promise<void>[] = [];
export const buried = async (): Promise<void> => void (await Promise.all(burials));

export async function crash(store: TaskStore, { at, leaves = false }: Fate = {}): Promise<Told> {
  const callId = randomBytes(12).toString("hex");
  // The tool belongs to this errand alone, so errands in one store do not see one another.
  const tool = `errand-${callId}`;
  const life = new Life(at);
  const started: Started[] = [];
  let own: string | undefined;
  const bodies =
    (isDead: () => boolean): Bodies =>
    (key, { idempotencyKey }: StepInfo, body) => {
      // A dead engine may still do things in this process. A dead process would not.
      if (isDead()) return never;
      life.notes(`the body of ${key}`);
      started.push({ key, idempotencyKey });
      return body();
    };
  const { store: mortalStore, hint } = mortal(store, life, callId);
  const first = new Engine(
    interfering(mortalStore, store, () => life.isOver),
    { [tool]: errand(bodies(() => life.isOver)) },
    { limits: { drainMs: 0 } },
  );
  const second = new Engine(
    {
      ...interfering(store, store),
      claim: async (wanted) => {
        const claims = await store.claim(wanted);
        // The last call of the dead engine arrives at the worst moment: the task has just changed hands.
        if (claims.claimed.length > 0) await life.arriveLate();
        return claims;
      },
      // Each errand has its own engines, and they need no hints about the other errands in the store.
      subscribe: (listener) =>
        store.subscribe((told) => {
          if (told.id === undefined || told.id === own || own === undefined) listener(told);
        }),
    },
    { [tool]: errand(bodies(() => false)) },
  );

  let cutShort: readonly string[] = [];
  const takeOver = async () => {
    await life.atRest();
    cutShort = await lapse(store, callId, started);
    await second.start({ name: `second-${callId}`, pollMs: 100, sweepMs: anHour });
  };
  const dead = life.end.then(() => "dead" as const);
  let taken = dead.then(takeOver);
  const nudge = async (id: string, wire: string) => {
    if (leaves && wire === "meanwhile" && !life.isOver) {
      taken = Promise.race([first.runtime.drain(), dead]).then(takeOver);
      return;
    }
    await atRest(first, life, store, id);
    if (!life.isOver) hint(id);
  };

  try {
    const work = { name: `first-${callId}`, pollMs: anHour, sweepMs: anHour };
    await Promise.race([first.start(work), dead]);
    const promoted = promotion(tool, callId);
    const created = await Promise.race([first.runtime.create(promoted), dead]);
    // The client does not know whether the task exists, so it sends the same request to another engine.
    const { id } = created === "dead" ? await second.runtime.create(promoted) : created;
    own = id;
    const asked = await serve({ store, id, callId, nudge: (wire) => nudge(id, wire) });
    if (life.isOver || leaves) await taken;
    else await atRest(first, life, store, id);
    return {
      callId,
      asked,
      started,
      cutShort,
      task: await second.runtime.get(id),
      journal: await journalOf(store, id, callId),
      calls: life.calls,
      hasty: life.hasty,
      wasRefused: life.late && wasRefused(life.late.call, life.late.value),
      isDead: life.isOver,
    };
  } finally {
    life.bury();
    burials.push(first.close());
    await second.close();
  }
}

/**
 * Ends the lease of the first engine in the store. Returns the bodies that had started there and that are not in the
 * log.
 */
async function lapse(
  store: TaskStore,
  callId: string,
  started: readonly Started[],
): Promise<readonly string[]> {
  const task = await store.readByCall(callId);
  if (task === undefined) return [];
  const { id, epoch, worker } = task;
  if (worker !== undefined) await store.renew(worker, [{ id, epoch }], 0);
  const journal = await journalOf(store, id, callId);
  return started.map(({ key }) => key).filter((key) => !journal.includes(`step ${key}`));
}

/** Refuses every call of a dead engine that needs a claim. Calls that need none are accepted from anyone. */
export function wasRefused(call: string, value: unknown): boolean {
  const [name = ""] = call.split(" ");
  if (name === "renew") return (value as RenewalResult).held.length === 0;
  if (name === "claim") return (value as ClaimResult).claimed.length === 0;
  if (name === "create") return (value as CreateResult).kind === "exists";
  return value === false || ["migrate", "sweep", "leave"].includes(name);
}

/** Resolves when the engine knows that its run has ended, or at once if a run goes on, which then hears what is new. */
async function atRest(engine: Engine, life: Life, store: TaskStore, id: string): Promise<void> {
  const isHeld = (await store.read(id))?.worker !== undefined;
  for (let turns = 0; turns < 100_000; turns += 1) {
    if (life.isOver || isHeld || engine.runtime.worker?.running === 0) return;
    await new Promise(setImmediate);
  }
  throw new Error("The engine does not become idle.");
}
