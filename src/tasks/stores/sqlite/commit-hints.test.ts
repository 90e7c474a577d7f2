// Hints about changes in a SQLite file.

import { expect, test, vi } from "vitest";
import type { ChangeHint } from "../../store.ts";
import { CommitHints } from "./commit-hints.ts";

/** `version` counts the commits of other processes, and the test controls the time. */
function listening(first: number | undefined = 1) {
  vi.useFakeTimers();
  let version: number | undefined | Error = first;
  let looks = 0;
  const hints = new CommitHints(() => {
    looks += 1;
    if (version instanceof Error) throw version;
    return version;
  });
  const heard: ChangeHint[] = [];
  const listen = () => hints.subscribe((hint) => void heard.push(hint));
  return {
    hints,
    heard,
    listen,
    looks: () => looks,
    set: (next: number | undefined | Error) => void (version = next),
    tick: () => vi.advanceTimersByTimeAsync(50),
  };
}

test("the commits of other processes are noticed within 50 ms, once each", async () => {
  const { heard, listen, set, tick } = listening();
  const end = listen();
  await tick();
  expect(heard).toEqual([]);
  set(2);
  await tick();
  await tick();
  expect(heard).toEqual([{ id: undefined }]);
  end();
});

test("without listeners, the database is not polled", async () => {
  const { heard, listen, looks, set, tick } = listening();
  await tick();
  expect(looks()).toBe(0);
  const [one, other] = [listen(), listen()];
  one();
  one();
  await tick();
  const before = looks();
  expect(before).toBeGreaterThan(1);
  other();
  set(2);
  await tick();
  expect([looks(), vi.getTimerCount(), heard]).toEqual([before, 0, []]);
  // Changes from before a subscription are not announced, because a new listener reads the store first.
  listen()();
  expect(heard).toEqual([]);
});

test("a poll that fails is repeated", async () => {
  const { heard, listen, set, tick } = listening();
  const end = listen();
  set(new Error("database is locked"));
  await tick();
  set(2);
  await tick();
  expect(heard).toEqual([{ id: undefined }]);
  end();
});

test("a change before the database was open may have been missed, so there is a hint", async () => {
  const { heard, listen, set, tick } = listening();
  set(undefined);
  const end = listen();
  await tick();
  set(1);
  await tick();
  expect(heard).toEqual([{ id: undefined }]);
  end();
});

test("a store's own changes are announced at once, by their id, and not within the operation", async () => {
  const { hints, heard, listen } = listening();
  const end = listen();
  hints.announce({ id: "a" });
  expect(heard).toEqual([]);
  await Promise.resolve();
  expect(heard).toEqual([{ id: "a" }]);
  end();
});

test("polling does not keep the process alive", () => {
  vi.useRealTimers();
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const end = new CommitHints(() => 1).subscribe(() => {});
  expect(timers()).toBe(before);
  end();
});
