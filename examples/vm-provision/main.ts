// A VM is ordered from two replicas that share a key and a file of tasks. The one that is creating it is killed
// with `kill -9` in the middle, and the other goes on. You are asked in the terminal; without one, or with --auto, a
// script answers. Exits with 1 unless exactly one VM was made and nothing that was recorded was done again.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { roundRobin } from "../round-robin.ts";
import { TaskClient } from "../task-client.ts";
import { cloudRequests } from "./cloud.ts";
import { answer, isScripted } from "./person.ts";
import { startReplicas } from "./replicas.ts";
import type { Deed } from "./replicas.ts";

/** A replica that says nothing for so long has lost its tasks. */
const leaseMs = 2_000;
/** How much later than that the other may go on: this machine may be busy. */
const slackMs = 4_000;

process.on("uncaughtException", (error: Error & { code?: string }) => {
  const isInterrupted = error.code === "ABORT_ERR";
  console.error(isInterrupted ? "\nCancelled." : error);
  process.exit(isInterrupted ? 130 : 1);
});
function giveUp() {
  console.error("It has come to no end in 30 s.");
  process.exit(1);
}
if (isScripted) setTimeout(giveUp, 30_000).unref();

// ---------------------------------------------------------------- two replicas, a load balancer, a client

const folder = mkdtempSync(join(tmpdir(), "vm-provision-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const cloudFile = join(folder, "cloud.jsonl");
const replicas = await startReplicas(2, {
  PARLEY_KEYS: `example:${randomBytes(32).toString("base64url")}`,
  TASKS_FILE: join(folder, "tasks.db"),
  CLOUD_FILE: cloudFile,
  LEASE_MS: String(leaseMs),
});
let killed: Deed | undefined;
const balancer = await roundRobin(replicas.urls, (index, method) => {
  const isDead = killed?.replica === index + 1;
  console.log(`${method} → replica ${index + 1}${isDead ? ", which is dead; sent again" : ""}`);
});
let questions = 0;
const client = new TaskClient({
  url: balancer.url,
  answer: (form) => {
    questions += 1;
    return answer(form);
  },
  onTask: ({ status, statusMessage = "" }) => console.log(`  task: ${status} ${statusMessage}`),
});

// ---------------------------------------------------------------- the call

const creating = replicas.first("asks the cloud for a VM");
console.log('\nprovision_vm { name: "web-1", size: "large" }\n');
const started = await client.start("provision_vm", { name: "web-1", size: "large" });
if (started.taskId !== undefined) {
  console.log("  It is agreed. From here on the call is a task.");
  const { replica, what } = await creating;
  replicas.kill(replica, "SIGKILL");
  killed = { replica, what, at: Date.now() };
  console.log(`  replica ${replica} is killed (kill -9) before the cloud has answered`);
}
const text = started.text ?? (await client.follow(started.taskId));
console.log(`\nresult: ${text}\n`);

balancer.close();
for (const replica of [1, 2]) replicas.kill(replica, "SIGTERM");

// ---------------------------------------------------------------- what happened

const creations = cloudRequests(cloudFile).filter(({ what }) => what === "create");
const vms = new Set(creations.map(({ vm }) => vm));
const times = (what: string) => replicas.deeds.filter((deed) => deed.what === what).length;
const goesOn = replicas.deeds.findLast(({ what }) => what === killed?.what);

if (killed === undefined || goesOn === undefined) {
  console.log(`It never became a task. VMs made: ${vms.size}.`);
  process.exitCode = isScripted || vms.size > 0 ? 1 : 0;
} else {
  const afterMs = goesOn.at - killed.at;
  const keys = new Set(creations.map(({ idempotencyKey }) => idempotencyKey));
  const prices = times("asks the cloud for its price");
  const networks = times("puts the VM into its network");
  console.log(`What happened:
- Replica ${killed.replica} died while it was creating the VM. Replica ${goesOn.replica} went on with the task after ${(afterMs / 1000).toFixed(1)} s; a lease is ${leaseMs / 1000} s.
- The cloud was asked for the VM ${creations.length} times, under ${keys.size} idempotency key, and made ${vms.size}: ${[...vms].join(", ")}.
- What was recorded was not done again: ${prices} price, ${questions} questions, ${networks} configuration.`);
  const isSo =
    goesOn.replica !== killed.replica &&
    afterMs <= leaseMs + slackMs &&
    creations.length === 2 &&
    keys.size === 1 &&
    vms.size === 1 &&
    prices === 1 &&
    networks === 1 &&
    // A person may have to be asked again.
    (questions === 2 || !isScripted);
  console.log(isSo ? "\nExactly one VM." : "\nTHAT IS NOT HOW IT SHOULD BE.");
  process.exitCode = isSo ? 0 : 1;
}
