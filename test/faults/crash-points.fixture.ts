// Enumerates crash points: it runs one errand for every point at which its first engine can die.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { TaskStore } from "../../src/tasks/store.ts";
import { buried, crash } from "./crash.fixture.ts";
import type { Fate } from "./crash.fixture.ts";
import type { Point } from "./life.ts";
import { around, calls, callsWhenLeaving } from "./points.ts";
import { mistakesIn } from "./story.ts";

const points = around(calls, "before", "after", "late").map(titled);
const pointsOfLeaving = around(["release 1", "leave 1"], "before", "after", "late").map(titled);

// Errands wait more than they work. The limit is set here, because it applies when the tests are collected.
vi.setConfig({ maxConcurrency: 12 });

function titled({ call, when }: Point): readonly [string, Point["when"]] {
  return [call, when];
}

interface Opened {
  readonly store: TaskStore;
  readonly close: () => Promise<void>;
}

export function describeCrashPoints(name: string, open: () => Promise<Opened>): void {
  describe(`an errand on ${name}`, () => {
    let opened: Opened | undefined;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await buried();
      await opened?.close();
    });

    const story = (fate: Fate) => crash(opened!.store, fate);

    test("makes exactly these calls: 37, so 111 points", async () => {
      const told = await story({});
      expect(mistakesIn(told)).toEqual([]);
      expect(told.cutShort).toEqual([]);
      expect(told.hasty).toEqual([]);
      expect(told.calls.toSorted()).toEqual(calls.toSorted());
      expect(points).toHaveLength(111);
    });

    test("makes these calls when its engine leaves", async () => {
      const told = await story({ leaves: true });
      expect(mistakesIn(told)).toEqual([]);
      expect(told.cutShort).toEqual(["send"]);
      expect(told.calls.toSorted()).toEqual(callsWhenLeaving.toSorted());
    });

    test.concurrent.for(points)("completes when it is killed at %s, %s", async ([call, when]) => {
      const at = { call, when };
      const told = await story({ at });
      expect(mistakesIn(told)).toEqual([]);
      expect(told.isDead).toBe(true);
      expect(told.wasRefused).toBe(when === "late" ? true : undefined);
    });

    test.concurrent.for(pointsOfLeaving)(
      "completes when it is killed at %s, %s, while leaving",
      async ([call, when]) => {
        const at = { call, when };
        const told = await story({ at, leaves: true });
        expect(mistakesIn(told)).toEqual([]);
        expect(told.isDead).toBe(true);
        expect(told.wasRefused).toBe(when === "late" ? true : undefined);
      },
    );
  });
}
