// A few of the crash points with real processes. `npm run crash-points` runs all of them.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../postgres/database.ts";
import { crashOfProcess } from "./crash-of-process.fixture.ts";
import { openStore } from "./place.ts";
import type { Place } from "./place.ts";
import type { Point } from "./life.ts";
import { mistakesIn } from "./story.ts";

const leaseMs = 1_000;
const points: readonly Point[] = [
  { call: "create 1", when: "after" },
  { call: "append 1", when: "before" },
  { call: "park 5", when: "before" },
  // The answer that was put off, before a body starts, and the outcome of that body.
  { call: "append 5", when: "before" },
  { call: "append 7", when: "after" },
];

async function placeOf(kind: Place["kind"]): Promise<Place> {
  if (kind === "postgres") {
    const { url, stop } = await freshDatabase();
    onTestFinished(stop);
    return { kind, at: url, leaseMs };
  }
  const folder = await mkdtemp(join(tmpdir(), "parley-faults-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { kind, at: join(folder, "parley.db"), leaseMs };
}

test.for(["sqlite", "postgres"] as const)(
  "when processes kill themselves, another continues (%s)",
  async (kind) => {
    const place = await placeOf(kind);
    const store = openStore(place);
    onTestFinished(() => store.close());
    await Promise.all(
      points.map(async (point) => {
        const story = await crashOfProcess(place, store, point);
        expect({ point, mistakes: mistakesIn(story), isDead: story.isDead }).toEqual({
          point,
          mistakes: [],
          isDead: true,
        });
      }),
    );
  },
);
