// The errand: one task that goes through everything that can happen to a task. It is the same in every test here, no
// matter where the process that runs it dies.

import type { StepInfo } from "../../src/replay/operations.ts";
import type { Entry } from "../../src/replay/journal.ts";
import type { Json } from "../../src/util/json.ts";
import { ask, external } from "../../src/tasks/engine.fixture.ts";
import type { Handler } from "../../src/tasks/engine.fixture.ts";
import type { Promotion } from "../../src/tasks/runtime.ts";

/** Called in place of each body. It counts the body if its engine is alive. */
export type Bodies = (key: string, info: StepInfo, body: () => unknown) => unknown;

const hourMs = 3_600_000;
const momentMs = 5;

export function errand(bodies: Bodies): Handler {
  return async (_input, ops, report): Promise<Json> => {
    const step = (key: string, body: () => unknown = () => key.toUpperCase()) =>
      ops.step(key, (info) => bodies(key, info, body));

    // These come from the rounds of the call.
    const name = await ask(ops, "name");
    const place = await step("reserve");
    await ops.background();

    const packed = await step("pack");
    if (ops.isLive()) report("packed");
    const [size, colour] = await Promise.all([ask(ops, "size"), ask(ops, "colour")]);
    await ops.sleep("nap", momentMs);
    const paid = await step("pay");

    // The answer wins one race and the sleep wins the other, no matter how late a worker looks.
    const hurry = await Promise.race([
      ask(ops, "hurry"),
      ops.sleep("patience", hourMs).then(() => "waited"),
    ]);
    const maybe = await Promise.race([
      ask(ops, "maybe"),
      ops.sleep("moment", momentMs).then(() => "moved on"),
    ]);
    const boss = await external(ops, "boss");

    // The body ends when the handler has the answer, so the answer must reach the run that is under way.
    const told = new AbortController();
    const [meanwhile, sent] = await Promise.all([
      ask(ops, "meanwhile").then((value) => {
        told.abort();
        return value;
      }),
      step("send", () => aborted(told.signal).then(() => "SEND")),
    ]);
    // This does not end at once, so the store learns that no question is open any more.
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

/** The bodies whose outcome is not in the journal that the task starts with. */
export const bodyKeys = ["pack", "pay", "send", "file"];

/** How every errand ends, no matter what happens on the way. */
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
  /** The journal at the end. Nothing is missing, nothing occurs twice, and the order is that of the races. */
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
  /** What the client was asked: each question once, except the one whose answer was not valid. */
  asked: ["colour", "hurry", "maybe", "meanwhile", "size", "size~2"],
};
