import { crashTest, play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { provisionVmTool } from "./tool.ts";

const { provisionVm } = provisionVmTool({
  price: async (size) => (size === "large" ? 70 : 30),
  create: async () => "vm-1",
  connect: async (_vm, _network, idempotencyKey) => void idempotencyKey,
});
const order = { name: "web-1", size: "large" } as const;

// #region test
test("the VM is created in the background, and the task asks for its network", async () => {
  const answers = { buy: true, network: "private" };
  const call = await play(provisionVm, order, answers);
  expect(call.text).toBe("web-1 runs as vm-1 in the private network.");
  expect(call.task?.statuses).toEqual(["working", "input_required", "working", "completed"]);
  expect(call.ran("create")).toBe(1);
});

test("no crash creates a second VM under another key", async () => {
  const answers = { buy: true, network: "private" };
  await crashTest(provisionVm, order, answers, { mayRepeat: ["price"] });
});
// #endregion

test("a client without tasks is served within its request", async () => {
  const answers = { buy: true, network: "public" };
  const call = await play(provisionVm, order, answers, { client: "modern" });
  expect(call).toMatchObject({
    text: "web-1 runs as vm-1 in the public network.",
    task: undefined,
  });
});

test("a declined question creates nothing", async () => {
  const call = await play(provisionVm, order, { buy: false });
  expect(call).toMatchObject({ text: "No VM was created.", task: undefined });
});
