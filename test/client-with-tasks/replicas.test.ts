// The example's replicas as real processes, one of which is killed in the middle of a task: a plain client, wrapped,
// notices nothing.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { roundRobin } from "../../examples/round-robin.ts";
import { cloudRequests } from "../../examples/vm-provision/cloud.ts";
import { startReplicas } from "../../examples/vm-provision/replicas.ts";
import { deferred } from "../wire/deferred.ts";
import { plainClient, textOf } from "./plain-client.ts";

test("a replica is killed, and callTool() returns the result", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-with-tasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const cloudFile = join(folder, "cloud.jsonl");
  const replicas = await startReplicas(2, {
    PARLEY_KEYS: `test:${randomBytes(32).toString("base64url")}`,
    TASKS_FILE: join(folder, "tasks.db"),
    CLOUD_FILE: cloudFile,
    LEASE_MS: "1000",
  });
  onTestFinished(() => {
    for (const replica of [1, 2]) replicas.kill(replica, "SIGKILL");
  });
  // Only then the client has heard of the task: before, nobody could go on with it.
  const followed = deferred();
  const balancer = await roundRobin(replicas.urls, (_, method) => {
    if (method === "subscriptions/listen" || method === "tasks/get") followed.resolve();
  });
  onTestFinished(() => void balancer.close());
  const { client, shown } = await plainClient(
    new StreamableHTTPClientTransport(new URL(balancer.url)),
    {
      say: (message) => (message.startsWith("Which network") ? { network: "private" } : undefined),
    },
  );
  onTestFinished(() => client.close());
  const creating = replicas.first("asks the cloud for a VM");
  const calling = client.callTool({
    name: "provision_vm",
    arguments: { name: "web-1", size: "large" },
  });
  await followed.promise;
  replicas.kill((await creating).replica, "SIGKILL");
  const result = await calling;
  expect(textOf(result)).toMatch(/^web-1 runs as \S+ in the private network/);
  expect(shown).toHaveLength(2);
  const created = cloudRequests(cloudFile).filter(({ what }) => what === "create");
  expect(new Set(created.map(({ vm }) => vm)).size).toBe(1);
});
