// Tasks that stream pieces with the time in them, and a replica that reads them: how long a piece takes from its body to a
// reader in another replica.

import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/tasks/program.ts";
import type { TaskRuntime } from "../../src/tasks/runtime.ts";
import type { TaskStore } from "../../src/tasks/store.ts";
import { carrierOf, newId, newKeyring, runtimeOf } from "./engine.ts";

const tool = "stream";
const keyring = newKeyring();

/** A stream that says the time every `everyMs` milliseconds, until the time in its input. */
const program = (everyMs: number): Program => ({
  prepare: ({ callId, input, stream }) => ({
    handler: (until, ops) =>
      ops.step(
        "times",
        async () => {
          let count = 0;
          for (const start = performance.now(); performance.now() < Number(until); count += 1) {
            const text = `${performance.now().toFixed(3)} `;
            stream({ block: "times", content: [{ type: "text", text }] });
            await pause(Math.max(0, start + (count + 1) * everyMs - performance.now()));
          }
          return String(count);
        },
        { streams: "stream" },
      ),
    input,
    carrier: carrierOf(tool, callId),
    shown: () => ({ kind: "external" }),
  }),
  ending: () => ({ status: "completed", result: null }),
});

/** A replica that runs these tasks, or only reads them. */
export const streamer = (store: TaskStore, everyMs: number): TaskRuntime =>
  runtimeOf(store, tool, program(everyMs), keyring);

/** Streams for a while, and resolves to the milliseconds that each piece took to the reader. */
export async function streamed(
  writer: TaskRuntime,
  reader: TaskRuntime,
  forMs: number,
): Promise<readonly number[]> {
  const call = { tool, principal: "", entries: [], unused: [], ttlMs: undefined };
  const input = performance.now() + forMs;
  const task = await writer.create({ ...call, callId: newId(), input });
  const times: number[] = [];
  for await (const { op, content = [] } of reader.readStreams(
    task,
    undefined,
    new AbortController().signal,
  )) {
    const now = performance.now();
    // The record says only how many there were.
    if (op !== undefined) continue;
    for (const said of JSON.stringify(content).match(/\d+\.\d+/g) ?? [])
      times.push(now - Number(said));
  }
  return times;
}
