// A process on a shared database, started by processes.test.ts: its environment says what it does, and it
// prints what has been acknowledged to it.

import process from "node:process";
import type { ClaimRef } from "../../task.ts";
import { SqliteStore } from "./sqlite-store.ts";

const { PARLEY_DB: path = "", PARLEY_DOES: does, PARLEY_NAME: name = "" } = process.env;
const store = new SqliteStore({ path });
const leaseMs = 60_000;

/** Written when the pipe has it: what is killed afterwards has said it. */
const say = (text: string) =>
  new Promise<void>((resolve) => void process.stdout.write(`${text}\n`, () => resolve()));

async function create(): Promise<void> {
  const one = async (lane: number) => {
    for (let count = 0; count < 5_000; count += 1) {
      const id = `${name}-${lane}-${count}`;
      const task = { id, callId: id, tool: "tool", principal: "", input: id, inbox: [] };
      await store.create(
        { ...task, log: [id, id], ttlMs: 3_600_000, claimedBy: undefined },
        1_000_000,
      );
      await say(id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, lane) => one(lane)));
}

/** Takes up what is due, and waits for hints in between, until a task "stop" is there. */
async function work(): Promise<void> {
  let ring = () => {};
  store.subscribe(() => ring());
  await store.migrate();
  await say("ready");
  for (let rounds = 0; rounds < 100_000; rounds += 1) {
    // Before looking: what changes while we look rings as well.
    const rung = new Promise<void>((resolve) => void (ring = resolve));
    const { claimed } = await store.claim({ worker: name, tools: ["tool"], most: 3, leaseMs });
    await Promise.all(claimed.map(({ task }) => finish(task)));
    if (claimed.length > 0) continue;
    if ((await store.read("stop")) !== undefined) break;
    await rung;
  }
  await store.close();
  process.exit(0);
}

async function finish(task: ClaimRef): Promise<void> {
  await store.append(task, { at: 0, records: [name], taken: [], returned: [] });
  const end = { result: name, statusMessage: undefined, keepMs: 0 };
  const isDone = await store.finish(task, { ...end, status: "completed" });
  await say(`${task.id} ${isDone}`);
}

// What waits for a hint has nothing else that keeps it alive.
const alive = setInterval(() => {}, 60_000);
await (does === "create" ? create() : work());
clearInterval(alive);
