// What a Worker does whose callers have objects of their own: each caller's records are in one object, and every id leads there.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { TaskClient } from "../../../examples/task-client.ts";
import type { Form } from "../../../examples/task-client.ts";
import type { Running } from "./flow.ts";

const patienceMs = 120_000;

const answer = async ({ requestedSchema: { properties } }: Form) => {
  const said = Object.keys(properties).map((name) => [name, name === "count" ? 3 : true]);
  return { action: "accept", content: Object.fromEntries(said) } as const;
};

const clientOf = ({ url }: Running, user: string): TaskClient =>
  new TaskClient({ url: new URL("/mcp", url).href, headers: { "x-user": user }, answer });

async function ask<T>({ url }: Running, path: string, query: Record<string, string>): Promise<T> {
  const asked = new URL(`/test/${path}`, url);
  for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, value);
  const response = await fetch(asked);
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what tenants-worker.ts serves
  return (await response.json()) as T;
}

/** Waits for the ticket that the task of this caller sends. */
async function ticketOf(running: Running, user: string): Promise<string> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const ticket = await ask<string | null>(running, "ticket", { user });
    if (ticket !== null) return ticket;
    if (performance.now() > end) throw new Error(`The task of ${user} never sent its ticket.`);
    await pause(50);
  }
}

type Counts = Readonly<Record<"tasks" | "rounds" | "audit", number>> | null;
const countsIn = (running: Running, object: string): Promise<Counts> =>
  ask(running, "counts", { object });

/** The object that an id leads to. */
const objectOf = (id: string): string => id.replace(/^.*@/, "parley/");

async function started(running: Running, user: string) {
  const { taskId = "" } = await clientOf(running, user).start("quote", {});
  assert.match(taskId, /^[0-9a-f]{32}@[\w-]{16}$/);
  return taskId;
}

/** Runs it. Throws if something is elsewhere than it should be. */
export async function tenants(running: Running, say: (line: string) => void): Promise<void> {
  const [ann, abe, bob] = [
    await started(running, "ann"),
    await started(running, "abe"),
    await started(running, "bob"),
  ];
  assert.equal(objectOf(ann), objectOf(abe));
  assert.notEqual(objectOf(ann), objectOf(bob));
  say("  passed: callers of one tenant share an object, and others have their own");

  await assert.rejects(clientOf(running, "bob").task(ann), /task/i);
  assert.equal((await clientOf(running, "ann").task(ann)).status, "working");
  say("  passed: a caller cannot read the task of another, wherever it is");

  const madeUp = `${"0".repeat(32)}@${"0".repeat(16)}`;
  await assert.rejects(clientOf(running, "bob").task(madeUp), /task/i);
  assert.equal(await countsIn(running, objectOf(madeUp)), null);
  say("  passed: an id that a client has made up leaves no tables behind");

  for (const [user, id, value] of [
    ["ann", ann, "7"],
    ["bob", bob, "9"],
  ] as const) {
    const ticket = await ticketOf(running, user);
    assert.deepEqual(await ask(running, "deliver", { ticket, value }), { status: "delivered" });
    assert.equal(await clientOf(running, user).follow(id), `${user}: ${value}, urgent`);
  }
  await clientOf(running, "abe").cancel(abe);
  assert.equal((await clientOf(running, "abe").task(abe)).status, "cancelled");
  say("  passed: a delivery and a cancellation reach the object of their task");

  const { text = "" } = await clientOf(running, "bob").start("order", {});
  assert.match(text, /^bob: 3, /);
  const [a, b, main] = await Promise.all(
    [objectOf(ann), objectOf(bob), "parley"].map((object) => countsIn(running, object)),
  );
  assert.deepEqual([a?.tasks, b?.tasks, main?.tasks ?? 0], [2, 1, 0]);
  assert.deepEqual([a?.rounds, b?.rounds, main?.rounds ?? 0], [0, 1, 0]);
  assert.ok((a?.audit ?? 0) > 0 && (b?.audit ?? 0) > 0, "the audit is beside its tasks");
  say("  passed: tasks, rounds that run once and the audit are in the object of their caller");
}
