// One errand whose first engine dies at a given point, and whose second goes on. Both are in this process.

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
  /** The first engine is told to leave while a body is under way. */
  readonly leaves?: boolean | undefined;
}

export interface Told extends Story {
  /** Of the first engine. */
  readonly calls: readonly string[];
  readonly hasty: readonly string[];
  /** What the store said to the call that arrived late. Undefined: there was none. */
  readonly wasRefused: boolean | undefined;
}

const never = new Promise<never>(() => {});
const anHour = 3_600_000;

/** It takes a dead engine a while to give up on its store. */
const burials: Promise<void>[] = [];
export const buried = async (): Promise<void> => void (await Promise.all(burials));

export async function crash(store: TaskStore, { at, leaves = false }: Fate = {}): Promise<Told> {
  const callId = randomBytes(12).toString("hex");
  // Nobody else's: errands in one store do not see one another.
  const tool = `errand-${callId}`;
  const life = new Life(at);
  const started: Started[] = [];
  let own: string | undefined;
  const bodies =
    (isDead: () => boolean): Bodies =>
    (key, { idempotencyKey }: StepInfo, body) => {
      // What a dead engine still does in this process, a dead process does not.
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
        // What the dead engine had sent arrives at the worst time: the task has just changed hands.
        if (claims.claimed.length > 0) await life.arriveLate();
        return claims;
      },
      // Of the errands that share the store each has its own engines, who need not hear of the others.
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
    // Nobody has told the client whether there is a task, so it says the same again elsewhere.
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
 * The first engine's lease comes to its end now, for all that the store knows. Returns the bodies that had been
 * started there and of which the log says nothing.
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

/** A dead engine's word counts for nothing. Those that are nobody's are taken from anyone. */
function wasRefused(call: string, value: unknown): boolean {
  const [name = ""] = call.split(" ");
  if (name === "renew") return (value as RenewalResult).held.length === 0;
  if (name === "claim") return (value as ClaimResult).claimed.length === 0;
  if (name === "create") return (value as CreateResult).kind === "exists";
  return value === false || ["migrate", "sweep", "leave"].includes(name);
}

/** Resolves when the engine knows that its run is over; at once if a run goes on: it is told what is new. */
async function atRest(engine: Engine, life: Life, store: TaskStore, id: string): Promise<void> {
  const isHeld = (await store.read(id))?.worker !== undefined;
  for (let turns = 0; turns < 100_000; turns += 1) {
    if (life.isOver || isHeld || engine.runtime.worker?.running === 0) return;
    await new Promise(setImmediate);
  }
  throw new Error("the engine does not come to rest");
}
