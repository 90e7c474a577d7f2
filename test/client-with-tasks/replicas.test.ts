// The demo's replicas as real processes. One of them is killed during a task, and a plain client with `withTasks` does
// not notice.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { cloudRequests } from "../../src/cli/demo/cloud.ts";
import { Replicas, roundRobin, sharedFiles } from "../../src/cli/demo/replicas.ts";
import { scriptOf } from "../programs.ts";
import { deferred } from "../wire/deferred.ts";
import { plainClient, textOf } from "./plain-client.ts";

test("callTool() returns its result when a replica is killed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-with-tasks-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const creating = deferred<number>();
  const file = scriptOf("src/cli/demo/replica.ts");
  const replicas = new Replicas(file, folder, ({ replica, what }) => {
    if (what === "create") creating.resolve(replica);
  });
  onTestFinished(replicas.end);
  // Resolves when the client knows the task. Before that, it could not continue the task after a kill.
  const followed = deferred();
  const balancer = await roundRobin(await replicas.urls(), (_, method) => {
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
  const calling = client.callTool({
    name: "provision_vm",
    arguments: { name: "web-1", size: "large" },
  });
  await followed.promise;
  replicas.kill(await creating.promise);
  const result = await calling;
  expect(textOf(result)).toMatch(/^web-1 runs as \S+ in the private network/);
  expect(shown).toHaveLength(2);
  const created = cloudRequests(sharedFiles(folder).cloudFile).filter(
    ({ what }) => what === "create",
  );
  expect(new Set(created.map(({ vm }) => vm)).size).toBe(1);
});
