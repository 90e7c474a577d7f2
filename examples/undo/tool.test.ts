import { memoryStore } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { crashTest, play } from "mcp-parley/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { trialVmTool } from "./tool.ts";

/** The VMs that exist, by the keys that they were made with. */
const vms = new Map<string, string>();
beforeEach(() => vms.clear());

const cloud = {
  create: async (name: string, key: string) => {
    vms.set(key, `vm-${name}`);
    return `vm-${name}`;
  },
  remove: async (key: string) => void vms.delete(key),
};
const { trialVm } = trialVmTool(cloud);

// #region test
test("a VM that is not wanted is deleted", async () => {
  const call = await play(trialVm, { name: "web" }, { keep: false });
  expect(call.isError).toBe(true);
  expect([call.ran("create"), call.undid("create"), vms.size]).toEqual([1, 1, 0]);
});

test("a VM that is wanted stays", async () => {
  const call = await play(trialVm, { name: "web" }, { keep: true });
  expect(call.text).toBe("web runs as vm-web.");
  expect([call.undid("create"), vms.size]).toEqual([0, 1]);
});

test("no crash leaves a VM behind", async () => {
  await crashTest(trialVm, { name: "web" }, { keep: false });
  expect(vms.size).toBe(0);
});
// #endregion

test("a client that cancels the task while it asks has what the task made deleted", async () => {
  const { app } = trialVmTool(cloud, memoryStore());
  onTestFinished(() => app.close());
  const { url } = await app.listen(0);
  const cancel = new AbortController();
  const server = await connect(url, {
    elicit: () => {
      expect([...vms.values()]).toEqual(["vm-web"]);
      cancel.abort();
      return { action: "cancel" };
    },
  });
  onTestFinished(() => server.close());
  const call = server.call("trial_vm", { name: "web" }, { signal: cancel.signal });
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  await expect.poll(() => vms.size).toBe(0);
});

test("a task that cannot ask its client fails, and what the task made is deleted", async () => {
  const made: string[] = [];
  const create: typeof cloud.create = (name, key) => {
    made.push(name);
    return cloud.create(name, key);
  };
  const { app } = trialVmTool({ ...cloud, create }, memoryStore());
  onTestFinished(() => app.close());
  const { url } = await app.listen(0);
  // It has no handler for questions.
  const server = await connect(url);
  onTestFinished(() => server.close());
  await expect(server.call("trial_vm", { name: "web" })).rejects.toMatchObject({
    code: "capability_missing",
  });
  await expect.poll(() => vms.size).toBe(0);
  expect(made).toEqual(["web"]);
});
