// Enumerates crash points: it runs one errand for every point at which its first engine can die.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { TaskStore } from "../../src/tasks/store.ts";
import { buried, crash } from "./crash.fixture.ts";
import type { Fate } from "./crash.fixture.ts";
import type { Point } from "./life.ts";
import { around, calls, callsWhenLeaving } from "./points.ts";
import { regretCalls } from "./regret.ts";
import type { RegretEnd } from "./regret.ts";
import { crashOfRegret } from "./regret.fixture.ts";
import { mistakesIn } from "./story.ts";

const points = around(calls, "before", "after", "late").map(titled);
const pointsOfLeaving = around(["release 1", "leave 1"], "before", "after", "late").map(titled);

const ends: readonly RegretEnd[] = ["throw", "cancel"];
const pointsOfRegret = ends.flatMap((end) =>
  around(regretCalls[end], "before", "after", "late").map((at) => [end, at.call, at.when] as const),
);

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

    test("makes exactly these calls: 33, so 99 points", async () => {
      const told = await story({});
      expect(mistakesIn(told)).toEqual([]);
      expect(told.cutShort).toEqual([]);
      expect(told.hasty).toEqual([]);
      expect(told.calls.toSorted()).toEqual(calls.toSorted());
      expect(points).toHaveLength(99);
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

    test.each(ends)("a task that is undone makes exactly these calls: %s", async (end) => {
      const { mistakes, calls: made } = await crashOfRegret(opened!.store, end);
      expect(mistakes).toEqual([]);
      // What comes before its first step is the same for every task, and reads change nothing.
      const own = made.slice(made.indexOf("append 1")).filter((call) => !call.startsWith("read"));
      expect(own).toEqual(regretCalls[end]);
    });

    test.concurrent.for(pointsOfRegret)(
      "each step is undone once (%s) when its engine is killed at %s, %s",
      async ([end, call, when]) => {
        const told = await crashOfRegret(opened!.store, end, { call, when });
        expect(told.mistakes).toEqual([]);
        expect(told.isDead).toBe(true);
        expect(told.wasRefused).toBe(when === "late" ? true : undefined);
      },
    );
  });
}
