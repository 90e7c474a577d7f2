// What the engine costs in one process, without HTTP:
//   1. a handler that uses no operation, against the same function called through one `await`
//   2. replay of a log of 1 to 200 entries: what an entry costs in a long log, against a short one
//   3. a hundred runs at once, against one after the other

import process from "node:process";
import { Inbox } from "../../src/replay/inbox.ts";
import { emptyJournal } from "../../src/replay/journal.ts";
import type { Entry, Journal } from "../../src/replay/journal.ts";
import type { Carrier } from "../../src/replay/carrier.ts";
import type { Operations } from "../../src/replay/operations.ts";
import { run } from "../../src/replay/run.ts";
import { nodeTurns } from "../../src/replay/turns.ts";
import type { Found } from "./found.ts";

const carrier: Carrier = {
  name: "bench",
  callId: "bench",
  turns: nodeTurns,
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  stallMs: 5_000,
  canDetach: false,
};

export async function measureEngine(isQuick: boolean): Promise<readonly Found[]> {
  const batches = isQuick ? 15 : 40;
  const found: Found[] = [];
  for (const rows of [0, 20, 100]) {
    const samples = await overhead(listing(rows), batches);
    found.push({ name: `engine/run÷await, ${rows} rows to JSON`, samples });
  }
  found.push(...(await replays(batches)), await atOnce(isQuick ? 5 : 15));
  return found;
}

async function timeUs(work: () => Promise<unknown>, times: number): Promise<number> {
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i += 1) await work();
  return Number(process.hrtime.bigint() - start) / 1_000 / times;
}

// ---------------------------------------------------------------- 1. nothing asked

/** What a plain tool does: it looks something up and returns it as text. */
function listing(count: number): (input: { done: boolean }) => Promise<string> {
  const rows = Array.from({ length: count }, (_, id) => ({ id, title: `Row ${id}`, done: true }));
  return async ({ done }) => JSON.stringify(rows.filter((row) => row.done === done));
}

async function overhead(
  handler: (input: { done: boolean }) => Promise<string>,
  batches: number,
): Promise<readonly number[]> {
  const input = { done: true };
  const direct = () => handler(input);
  const played = () => run(handler, input, { journal: emptyJournal, inbox: new Inbox() }, carrier);
  const ratios: number[] = [];
  for (let batch = 0; batch < batches + warmUp; batch += 1) {
    // They take turns in coming first, so that neither always runs on warmer caches.
    const isDirectFirst = batch % 2 === 0;
    const [first, second] = isDirectFirst ? [direct, played] : [played, direct];
    const [one, other] = [await timeUs(first, 5_000), await timeUs(second, 5_000)];
    ratios.push(isDirectFirst ? other / one : one / other);
  }
  return ratios.slice(warmUp);
}

const warmUp = 5;

// ---------------------------------------------------------------- 2. replay

function journalOf(entries: number): Journal {
  const made = Array.from({ length: entries }, (_, index): Entry => {
    const key = `k${index}`;
    return index % 2 === 0
      ? { kind: "step", key, value: { id: index, text: "x".repeat(60) } }
      : { kind: "answer", key, value: { text: "x".repeat(60) }, digest: key };
  });
  return { entries: made, out: [] };
}

const sequential = (entries: number) => async (_: unknown, ops: Operations) => {
  for (let index = 0; index < entries; index += 1) {
    const key = `k${index}`;
    if (index % 2 === 0) await ops.step(key, () => {});
    else
      await ops.ask(key, { digest: key, shown: key, read: (value) => ({ kind: "value", value }) });
  }
  return "end";
};

async function replay(entries: number, journal: Journal): Promise<void> {
  const outcome = await run(
    sequential(entries),
    undefined,
    { journal, inbox: new Inbox() },
    carrier,
  );
  if (outcome.kind !== "done" || outcome.value !== "end")
    throw new Error(`The run ended as ${outcome.kind}.`);
}

async function replays(batches: number): Promise<readonly Found[]> {
  const sizes = [1, 10, 50, 100, 200];
  const found = new Map(sizes.map((size) => [size, [] as number[]]));
  for (let batch = 0; batch < batches + warmUp; batch += 1) {
    for (const size of sizes) {
      const journal = journalOf(size);
      const us = await timeUs(() => replay(size, journal), Math.ceil(400 / size));
      if (batch >= warmUp) found.get(size)?.push(us / size);
    }
  }
  const few = found.get(50) ?? [];
  return [1, 10, 100, 200].map((size) => ({
    name: `engine/an entry, ${size}÷50 entries`,
    samples: (found.get(size) ?? []).map((us, batch) => us / (few[batch] ?? Number.NaN)),
  }));
}

// ---------------------------------------------------------------- 3. at once

async function atOnce(batches: number): Promise<Found> {
  const journal = journalOf(200);
  const samples: number[] = [];
  for (let batch = 0; batch < batches + 2; batch += 1) {
    const inTurn = (await timeUs(() => replay(200, journal), 100)) * 100;
    const together = await timeUs(
      () => Promise.all(Array.from({ length: 100 }, () => replay(200, journal))),
      1,
    );
    samples.push(together / inTurn);
  }
  return { name: "engine/100 runs, at once÷in turn", samples: samples.slice(2) };
}
