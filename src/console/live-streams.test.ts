// The streams that tell pages what changes: how long they last, and how often they look into the store.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Inside } from "../server/inside.ts";
import { LiveStreams } from "./live-streams.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The streams of an app whose store counts how often it is looked into. A look lasts until it fails. */
function streams() {
  const looks: { readonly fail: () => void }[] = [];
  const store = {
    subscribe: () => () => {},
    workers: () =>
      new Promise((_, reject) => {
        looks.push({ fail: () => reject(new Error("down")) });
      }),
  };
  const closing = new AbortController();
  const failing: { since: number | undefined } = { since: undefined };
  // The streams use nothing else of it.
  const inside = {
    core: { store },
    closing: () => closing.signal,
    storeFailingSince: () => failing.since,
  } as unknown as Inside;
  return { live: new LiveStreams(inside), looks, failing };
}

test("a stream ends after five minutes, so that its page is asked again who reads it", async () => {
  const { live } = streams();
  const { body } = live.open("ada", new AbortController().signal);
  let isOver = false;
  void new Response(body).text().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(5 * 60_000 - 1);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
  // Nothing is left of it.
  expect(vi.getTimerCount()).toBe(0);
});

test("a store that goes down while it is looked into is looked into by one heartbeat afterwards", async () => {
  const { live, looks } = streams();
  const page = new AbortController();
  live.open("ada", page.signal);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(looks).toHaveLength(1);
  // A request finds the store down before that look does.
  live.storeFailed();
  looks[0]?.fail();
  const before = looks.length;
  for (let second = 0; second < 20; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    for (const { fail } of looks) fail();
  }
  // It is tried every two seconds.
  expect(looks.length - before).toBe(10);
  page.abort();
  expect(vi.getTimerCount()).toBe(0);
});

test("a page is told since when the store fails: since the worker noticed, or since someone looked", async () => {
  const { live, failing } = streams();
  const began = Date.now();
  await vi.advanceTimersByTimeAsync(60_000);
  failing.since = began + 5_000;
  expect(live.storeFailed()).toBe(began + 5_000);
  // That outage is over. Nobody was looking, so no heartbeat has noticed.
  failing.since = undefined;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(live.storeFailed()).toBe(began + 120_000);
  const page = new AbortController();
  const { body } = live.open("ada", page.signal);
  await vi.advanceTimersByTimeAsync(1_000);
  // It is the same outage.
  expect(live.storeFailed()).toBe(began + 120_000);
  page.abort();
  expect(await new Response(body).text()).toContain(
    `{"type":"store","isDown":true,"since":${began + 120_000}}`,
  );
});
