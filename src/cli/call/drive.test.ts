// What the command says while a call only waits: nothing that breaks other text, and once that it is not stuck.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Call, CallEvent } from "../../client/index.ts";
import { referenceTo } from "../../client/reference.ts";
import { GivenAnswers } from "../args/given-answers.ts";
import { Printer } from "../screen/printer.ts";
import { drive } from "./drive.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const taskId = "7";
const ref = referenceTo({
  id: crypto.randomUUID(),
  target: "http://127.0.0.1:3000/mcp",
  since: 0,
  method: "tools/call",
  name: "nap",
  rounds: 0,
  stateRounds: 0,
  questions: new Map(),
  answers: new Map(),
  taskId,
  isLegacy: false,
});

const task: CallEvent = { type: "task", taskId, ref };
const progress: CallEvent = { type: "progress", message: "packing" };
const part: CallEvent = {
  type: "part",
  block: "a",
  op: "append",
  text: "Hel",
  soFar: { text: "Hel", content: [{ type: "text", text: "Hel" }] },
  content: [{ type: "text", text: "Hel" }],
};
const asked: CallEvent = {
  type: "asked",
  questions: [
    {
      key: "hours",
      kind: "form",
      message: "For how long?",
      schema: { type: "object", properties: { hours: { type: "integer" } }, required: ["hours"] },
    },
  ],
  ref,
};

/** Runs a call whose events come 3 s after each other and that then waits for a minute. Returns what was printed. */
async function printed(events: readonly CallEvent[], resumed?: string, answersFor = 0) {
  const out: string[] = [];
  const interrupt = new AbortController();
  const sleep = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  const call = {
    answer: () => sleep(answersFor),
    async *[Symbol.asyncIterator]() {
      for (const event of events) {
        yield event;
        await sleep(3_000);
      }
      await sleep(60_000);
    },
  } as unknown as Call;
  const printer = new Printer({
    write: (text) => void out.push(text),
    isTerminal: false,
    columns: 80,
  });
  const given = new GivenAnswers(undefined, ["hours=9"]);
  const driver = { printer, given, isInteractive: false, interrupt: interrupt.signal };
  const outcome = drive(call, driver, { tool: "nap", args: {}, taskId: resumed });
  await vi.advanceTimersByTimeAsync(50_000);
  interrupt.abort();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await outcome).toMatchObject({ status: "interrupted" });
  expect(vi.getTimerCount()).toBe(0);
  return out.join("").replaceAll(/\d+ m?s */g, "");
}

const waiting = "   Waiting for the task · Ctrl-C: leave it running, and resume later\n";

test("a task that says nothing is waited for, and this is said once", async () => {
  const text = await printed([task]);
  expect(text).toContain(`task 7\n${waiting}`);
  expect(text.split(waiting)).toHaveLength(2);
});

test("it is said again when the call is resumed", async () => {
  expect(await printed([], taskId)).toMatch(`nap\n${waiting}`);
});

test("it comes after the last answer and the last progress", async () => {
  const text = await printed([task, asked, progress, progress]);
  expect(text).toContain(`hours: 9 (given)\n   working packing\n${waiting}`);
});

test.each<[string, readonly CallEvent[], number?]>([
  ["it is not a task", [progress]],
  ["a question is open", [task, asked], 60_000],
  ["a line would break a streamed text", [task, part]],
])("it is not said when %s", async (_, events, answersFor) => {
  expect(await printed(events, undefined, answersFor)).not.toContain("Waiting");
});
