// A client in the official SDK's default mode. `withTasks` has no effect on it. The warning appears once in a process,
// so this file has one test.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { servedOven } from "../wire/task-calls.ts";
import { plainClient } from "./plain-client.ts";
import type { People } from "./plain-client.ts";

async function connected(versionNegotiation: People["versionNegotiation"]) {
  const { to } = await servedOven();
  const transport = new StreamableHTTPClientTransport(new URL(to));
  const { client } = await plainClient(transport, { versionNegotiation });
  onTestFinished(() => client.close());
  return client;
}

test("is told once that withTasks has no effect, and why a task cannot be called", async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const advice =
    /withTasks\(\) has no effect on this client: .*Pass versionNegotiation: \{ mode: "auto" \}/;
  await connected({ mode: "auto" });
  const client = await connected({ mode: "legacy" });
  await connected({ mode: "legacy" });
  // Everything else works.
  expect((await client.listTools()).tools.length).toBeGreaterThan(1);
  await expect(client.callTool({ name: "two", arguments: {} })).rejects.toThrow(advice);
  await expect(client.callTool({ name: "none", arguments: {} })).rejects.not.toThrow(advice);
  expect(warnings).toEqual([expect.stringMatching(advice)]);
});
