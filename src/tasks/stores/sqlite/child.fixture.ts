// A process on a shared database, which processes.test.ts starts. Its environment says what it does, and it prints what
// was acknowledged.

import process from "node:process";
import type { ClaimRef } from "../../task.ts";
import { SqliteStore } from "./sqlite-store.ts";

const { PARLEY_DB: path = "", PARLEY_DOES: does, PARLEY_NAME: name = "" } = process.env;
const store = new SqliteStore({ path });
const leaseMs = 60_000;

/** Resolves when the line is in the pipe, so that it is not lost if the process is killed afterwards. */
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

/** Claims due tasks and waits for hints in between, until there is a task "stop". */
async function work(): Promise<void> {
  let ring = () => {};
  store.subscribe(() => ring());
  await store.migrate();
  await say("ready");
  for (let rounds = 0; rounds < 100_000; rounds += 1) {
    // The bell is set before the claim, so that a change during the claim rings it, too.
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

// While the process waits for a hint, nothing else keeps it alive.
const alive = setInterval(() => {}, 60_000);
await (does === "create" ? create() : work());
clearInterval(alive);
