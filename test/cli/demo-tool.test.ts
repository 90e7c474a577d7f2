// The tool of the demo without a wire; demo.test.ts plays it on real replicas.

import { crashTest, declined, play } from "mcp-parley/testing";
import { beforeEach, expect, test } from "vitest";
import { vmProvision } from "../../src/cli/demo/tool.ts";

const made = new Map<string, string>();
const done: string[] = [];
const { provisionVm } = vmProvision({
  price: () => 70,
  create: async (name, size, idempotencyKey) => {
    const vm = made.get(idempotencyKey) ?? `vm-${made.size + 1}`;
    made.set(idempotencyKey, vm);
    done.push(`create ${name} ${size}`);
    return vm;
  },
  configure: async (vm, network, idempotencyKey) => {
    done.push(`configure ${vm} ${network} ${idempotencyKey.length > 0}`);
  },
});
const web = { name: "web-1", size: "large" } as const;
const script = { buy: true, network: "private" };

function reset() {
  made.clear();
  done.length = 0;
}
beforeEach(reset);

test("the price is confirmed first; the rest is a task, which asks once more", async () => {
  const call = await play(provisionVm, web, script, { as: "task" });
  expect(call.text).toBe("web-1 runs as vm-1 in the private network, for $70 a month.");
  expect(call.asked.map(({ message }) => message)).toEqual([
    "web-1 (large) is $70 a month. Create it?",
    "Which network is vm-1 for?",
  ]);
  expect(call.rounds).toBe(2);
  expect(call.task?.statuses).toEqual(["working", "input_required", "working", "completed"]);
  expect(done).toEqual(["create web-1 large", "configure vm-1 private true"]);
  expect(call.ran("price")).toBe(1);
});

test("declining the price creates neither a VM nor a task", async () => {
  const call = await play(provisionVm, web, { buy: declined }, { as: "task" });
  expect(call.text).toBe("No VM was created.");
  expect(call.task).toBeUndefined();
  expect(done).toEqual([]);
});

test("wherever the tool crashes, a repeated request has the same idempotency key", async () => {
  // A first request that is sent twice asks for the price twice. That only reads.
  const options = { as: "task", reset, mayRepeat: ["price"] } as const;
  const { repeats } = await crashTest(provisionVm, web, script, options);
  expect(new Set(repeats.map(({ step }) => step))).toEqual(new Set(["create", "configure"]));
  expect(repeats.every(({ usesKey }) => usesKey)).toBe(true);
});
