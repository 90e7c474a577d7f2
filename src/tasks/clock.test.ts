// The store's clock: waiting for work with a time limit.

import { afterEach, expect, test, vi } from "vitest";
import { StoreClock } from "./clock.ts";

afterEach(() => void vi.useRealTimers());

test("work that ends in time leaves no timer behind, which would keep the process alive", async () => {
  vi.useFakeTimers();
  const clock = new StoreClock();
  await clock.within(2_000, Promise.resolve());
  await expect(clock.within(2_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(vi.getTimerCount()).toBe(0);
});

test("work that does not end is waited for no longer than that", async () => {
  vi.useFakeTimers();
  const waited = new StoreClock().within(2_000, new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(2_000);
  await waited;
});
