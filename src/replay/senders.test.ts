// How an answer came is kept with it. Nothing else depends on it, so answers that version 0.1.0 recorded have none.

import { expect, test } from "vitest";
import { emptyJournal, packEntry, unpackEntry } from "./journal.ts";
import type { Entry } from "./journal.ts";
import { plain, runOnce } from "./rounds.fixture.ts";

const answer = { kind: "answer", key: "a", digest: "d", value: 1 } as const;

test.each<[Partial<Entry>, unknown[]]>([
  [{}, ["a", "a", "d", 1]],
  [{ via: "relay" }, ["a", "a", "d", 1, "relay"]],
  [{ via: "link", who: "bo" }, ["a", "a", "d", 1, "link", "bo"]],
])("a sender is packed behind the answer (%j)", (sender, packed) => {
  expect(packEntry({ ...answer, ...sender } as Entry)).toEqual(packed);
  expect(unpackEntry(packed)).toEqual({ ...answer, ...sender });
});

test("a form of the client, which is where most answers come from, takes no room", () => {
  expect(packEntry({ ...answer, via: "form" })).toEqual(["a", "a", "d", 1]);
  expect(packEntry({ ...answer, who: "bo" })).toEqual(["a", "a", "d", 1, "form", "bo"]);
  expect(unpackEntry(["a", "a", "d", 1, "form", "bo"])).toEqual({ ...answer, who: "bo" });
});

test("an answer keeps how it came, and otherwise comes the way of its question", async () => {
  const kept: object[] = [];
  const append = (entry: Entry, shown?: unknown) => void kept.push({ ...entry, shown });
  const events = [
    { kind: "answer", key: "a", value: 1, digest: "A?", via: "delivery", who: "bo" },
    { kind: "answer", key: "b", value: 2, digest: "B?" },
  ] as const;
  await runOnce(
    async (ops) => {
      await ops.ask("a", plain("A?", { via: "url" }));
      await ops.ask("b", plain("B?", { via: "url" }));
    },
    emptyJournal,
    events,
    { append },
  );
  expect(kept).toEqual([
    { kind: "answer", key: "a", value: 1, digest: "A?", via: "delivery", who: "bo", shown: "A?" },
    { kind: "answer", key: "b", value: 2, digest: "B?", via: "url", shown: "B?" },
  ]);
});

test("what an earlier run has recorded is reported before it is delivered", async () => {
  const seen: unknown[] = [];
  const entries = [{ ...answer, digest: "A?" }];
  await runOnce(
    async (ops) => void seen.push(await ops.ask("a", plain("A?"))),
    { entries, out: [] },
    [],
    { onReplayed: (entry, shown) => void seen.push([entry.key, shown]) },
  );
  expect(seen).toEqual([["a", "A?"], 1]);
});
