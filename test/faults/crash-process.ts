// The first engine of an errand, as a process that kills itself at a given point.

import process from "node:process";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import { errand, promotion } from "./errand.fixture.ts";
import { interfering } from "./interference.fixture.ts";
import { Life } from "./life.ts";
import type { Point } from "./life.ts";
import { mortal } from "./mortal.fixture.ts";
import { openStore, ordersHere } from "./place.ts";
import type { Place } from "./place.ts";
import { regret, regretUndos } from "./regret.ts";
import type { RegretEnd } from "./regret.ts";
import { say } from "./replica-process.ts";

export interface CrashOrders {
  readonly place: Place;
  readonly callId: string;
  readonly tool: string;
  readonly point: Point | undefined;
  /** It runs a task that is undone, in place of the errand. */
  readonly regret?: RegretEnd | undefined;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by who started this process
const { place, callId, tool, point, regret: end } = ordersHere() as CrashOrders;
const store = openStore(place);
const did = (what: string): void => say({ did: what });
const life = new Life(point, () => process.kill(process.pid, "SIGKILL"));
// Hints and the lease are the real ones, so the number of renewals is left to chance.
const { leaseMs, subscribe } = store;
const engine = new Engine(
  interfering({ ...mortal(store, life, callId).store, leaseMs, subscribe }, store),
  {
    [tool]:
      end === undefined
        ? errand((key, { idempotencyKey }, body) => {
            say({ started: key, idempotencyKey });
            return body();
          })
        : regret(end, did),
  },
  { undos: regretUndos(did) },
);
await engine.start({ name: `first-${callId}` });
const { id } = await (end === undefined
  ? engine.runtime.create(promotion(tool, callId))
  : engine.create(tool, null, { callId }));
say({ created: id });
