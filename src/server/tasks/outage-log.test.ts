import { beforeEach, expect, test } from "vitest";
import { OutageLog } from "./outage-log.ts";

const quietMs = 10_000;
const refused = new Error("connection refused");

let now: number;
let lines: string[];
let isReachable: boolean;
let timers: { at: number; callback: () => void }[];
let log: OutageLog;

beforeEach(() => {
  now = 0;
  lines = [];
  isReachable = false;
  timers = [];
  const note = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  log = new OutageLog({
    logger: { debug: () => {}, info: note("info"), warn: note("warn"), error: note("error") },
    environment: {
      now: () => now,
      eventually: (ms, callback) => {
        const timer = { at: now + ms, callback };
        timers.push(timer);
        return () => void (timers = timers.filter((one) => one !== timer));
      },
    },
    probe: async () => {
      if (!isReachable) throw refused;
    },
    quietMs,
  });
});

/** Moves the clock second by second. */
async function pass(seconds: number, eachSecond = () => {}): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    now += 1_000;
    eachSecond();
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { callback } of due) callback();
    // A probe takes a few turns.
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

const failALot = () => {
  for (let count = 0; count < 13; count += 1) log.failed(refused);
};

test("an outage is logged at its start, once a minute, and at its end", async () => {
  failALot();
  await pass(150, failALot);
  isReachable = true;
  await pass(30);
  expect(lines).toEqual([
    "error: The task store failed: connection refused",
    "error: The task store has been failing for 60 seconds. The last error: connection refused",
    "error: The task store has been failing for 2 minutes. The last error: connection refused",
    "info: The task store works again. It was failing for 2 minutes.",
  ]);
  expect([log.isDown, timers]).toEqual([false, []]);
});

test("if only some operations fail, a success of another one does not end the outage", async () => {
  isReachable = true;
  await pass(50, () => {
    if ((now / 1_000) % 5 === 0) log.failed(refused);
  });
  expect(lines).toHaveLength(1);
  await pass(10);
  expect(lines[1]).toBe("info: The task store works again. It was failing for 45 seconds.");
});

test("without any request, the outage lasts until the store can be used", async () => {
  log.failed(refused);
  await pass(300);
  expect(lines).toHaveLength(1);
  isReachable = true;
  await pass(10);
  expect(lines[1]).toMatch(/^info: The task store works again\./);
  log.failed(refused);
  expect(lines[2]).toBe(lines[0]);
});

test("an app that closes forgets the outage", async () => {
  log.failed(refused);
  log.close();
  isReachable = true;
  await pass(20);
  expect([lines.length, timers]).toEqual([1, []]);
});
