// The errand: one task in which everything happens that can happen to one. It is the same in every test here,
// wherever the process that runs it dies.

import type { StepInfo } from "../../src/replay/operations.ts";
import type { Entry } from "../../src/replay/journal.ts";
import type { Json } from "../../src/util/json.ts";
import { ask, external } from "../../src/tasks/engine.fixture.ts";
import type { Handler } from "../../src/tasks/engine.fixture.ts";
import type { Promotion } from "../../src/tasks/runtime.ts";

/** Called in place of each body: counts it, if it is alive. */
export type Bodies = (key: string, info: StepInfo, body: () => unknown) => unknown;

const hourMs = 3_600_000;
const momentMs = 5;

export function errand(bodies: Bodies): Handler {
  return async (_input, ops, report): Promise<Json> => {
    const step = (key: string, body: () => unknown = () => key.toUpperCase()) =>
      ops.step(key, (info) => bodies(key, info, body));

    // Told in rounds.
    const name = await ask(ops, "name");
    const place = await step("reserve");
    await ops.background();

    const packed = await step("pack");
    if (ops.isLive()) report("packed");
    const [size, colour] = await Promise.all([ask(ops, "size"), ask(ops, "colour")]);
    await ops.sleep("nap", momentMs);
    const paid = await step("pay");

    // One race that the answer wins, one that the sleep wins, however late this is looked at.
    const hurry = await Promise.race([
      ask(ops, "hurry"),
      ops.sleep("patience", hourMs).then(() => "waited"),
    ]);
    const maybe = await Promise.race([
      ask(ops, "maybe"),
      ops.sleep("moment", momentMs).then(() => "moved on"),
    ]);
    const boss = await external(ops, "boss");

    // The body comes to its end when the answer has been told, so the answer must reach the run it is in.
    const told = new AbortController();
    const [meanwhile, sent] = await Promise.all([
      ask(ops, "meanwhile").then((value) => {
        told.abort();
        return value;
      }),
      step("send", () => aborted(told.signal).then(() => "SEND")),
    ]);
    // Not at once, so that the store hears that nothing is open any more.
    const filed = await step("file", async () => "FILE");
    const all = { name, place, packed, size, colour, paid, hurry, maybe, boss, meanwhile };
    return { ...all, sent, filed } as Json;
  };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

const told: readonly Entry[] = [
  { kind: "answer", key: "name", digest: "name", value: "Ada" },
  { kind: "step", key: "reserve", value: "RESERVE" },
  { kind: "background", key: "~background-1" },
];

export function promotion(tool: string, callId: string): Promotion {
  return {
    callId,
    tool,
    principal: undefined,
    input: null,
    entries: told,
    unused: [],
    ttlMs: undefined,
  };
}

/** Those whose outcome is not in the journal that the task starts with. */
export const bodyKeys = ["pack", "pay", "send", "file"];

/** What every errand comes to, whatever happens to it. */
export const expected = {
  status: "completed",
  result: {
    name: "Ada",
    place: "RESERVE",
    packed: "PACK",
    size: "L",
    colour: "red",
    paid: "PAY",
    hurry: "yes",
    maybe: "moved on",
    boss: "fine",
    meanwhile: "still here",
    sent: "SEND",
    filed: "FILE",
  },
  /** The journal at its end. Nothing is in it twice, nothing is missing, and the order is that of the races. */
  journal: [
    "answer name",
    "step reserve",
    "background ~background-1",
    "step pack",
    "answer colour",
    "answer size",
    "timer nap",
    "step pay",
    "answer hurry",
    "timer moment",
    "answer maybe",
    "answer boss",
    "answer meanwhile",
    "step send",
    "step file",
  ],
  /** What the client was asked: each question once, and again only the one whose answer was refused. */
  asked: ["colour", "hurry", "maybe", "meanwhile", "size", "size~2"],
};
