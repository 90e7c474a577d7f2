// The transcripts themselves: that there is one of each errand, and that each tells how its run ended.

import { describe, expect, test, vi } from "vitest";
import { isSame } from "./exchanges.ts";
import { ofWithTasks, toParley, toPeer } from "./peer-errands.ts";
import { peers, skippedAs } from "./peers.ts";
import { isLenient, transcripts } from "./transcript.ts";
import type { Direction, Passed, Transcript } from "./transcript.ts";
import { isOfTutorial } from "./tutorial.ts";
import { spoken, verdictOf } from "./verdict.ts";

const all = transcripts();
const namesOf = { "to-parley": toParley, connect: toPeer, "with-tasks": toPeer };

function errandsOf(direction: Direction, hasTutorial: boolean): string[] {
  const names = direction === "with-tasks" ? ofWithTasks : Object.keys(namesOf[direction]);
  return names.filter((name) => hasTutorial || !isOfTutorial(name));
}

describe.each(peers.map((peer) => [`${peer.name} ${peer.version}`, peer] as const))(
  "%s",
  (_, peer) => {
    const ofPeer = all.filter((one) => one.peer === peer.name);

    test("did every errand, at this version", () => {
      for (const direction of ["to-parley", "connect", "with-tasks"] as const) {
        const done = ofPeer
          .filter((one) => one.direction === direction && !isLenient(one.capability))
          .map(({ capability }) => capability);
        const named = errandsOf(direction, peer.tutorial !== undefined);
        expect(done.toSorted()).toEqual(named.toSorted());
      }
      expect(new Set(ofPeer.map(({ version }) => version))).toEqual(new Set([peer.version]));
    });

    test("is skipped by its name where its toolchain is missing", () => {
      vi.stubEnv("PATH", "/nowhere");
      vi.stubEnv("PARLEY_PYTHON", undefined);
      vi.stubEnv("PARLEY_INTEROP_MCPKIT", "/nowhere");
      const [said, why] = skippedAs(peer)?.split(", because ") ?? [];
      expect(said).toBe(`${peer.name} is skipped`);
      expect(why).toMatch(/is not installed|is not Python|names no folder/);
      vi.unstubAllEnvs();
    });

    test("has in each transcript the verdict on what passed", () => {
      for (const { direction, capability, errand, outcome, passed, verdict } of ofPeer) {
        const named = namesOf[direction][capability.replace(/-lenient$/, "")];
        if (named === undefined) throw new Error(`There is no errand "${capability}".`);
        const job = spoken(peer, named);
        const told = [capability, verdictOf(peer, direction, job, outcome, passed), errand];
        expect(told).toEqual([capability, verdict, job.errand]);
      }
    });
  },
);

describe("a run is the same as the one that is kept", () => {
  const [kept] = all.filter(({ capability }) => capability === "legacy-form");
  if (kept === undefined) throw new Error("There is no run on 2025-11-25.");
  const answerIn = (change: (one: Passed) => Passed[]): Transcript => ({
    ...kept,
    passed: kept.passed.flatMap(change),
  });
  const get = kept.passed.find((one) => "request" in one && one.http === "GET");

  test("if an exchange that went on beside another one ended later", () => {
    const number = get !== undefined && "request" in get ? get.request : 0;
    const beside = (one: Passed) => "response" in one && one.response === number;
    const passed = [...kept.passed.filter((one) => !beside(one)), ...kept.passed.filter(beside)];
    expect(passed).not.toEqual(kept.passed);
    expect(isSame(kept, { ...kept, passed })).toBe(true);
  });

  test("unless a field differs", () => {
    const renamed = answerIn((one) => [JSON.parse(JSON.stringify(one).replace("Ada", "Eve"))]);
    expect(isSame(kept, renamed)).toBe(false);
  });

  test("unless a message is missing", () => {
    const shorter = answerIn((one) => ("event" in one ? [] : [one]));
    expect(isSame(kept, shorter)).toBe(false);
  });

  test("unless it ended otherwise", () => {
    expect(isSame(kept, { ...kept, outcome: { text: "Hello, Eve!" } })).toBe(false);
  });
});
