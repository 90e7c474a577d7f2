// A call that becomes a task: the price is confirmed while the caller waits, and the VM is created in the background.

import { parley } from "mcp-parley";
import type { Store } from "mcp-parley";
import { z } from "zod";

export interface Cloud {
  /** In dollars a month. */
  readonly price: (size: string) => Promise<number>;
  /** Called again with the same key, it returns the VM that it has already created. */
  readonly create: (name: string, size: string, idempotencyKey: string) => Promise<string>;
  readonly connect: (vm: string, network: string, idempotencyKey: string) => Promise<void>;
}

const Order = z.object({ name: z.string(), size: z.enum(["small", "large"]) });

export function provisionVmTool(cloud: Cloud, store?: Store) {
  const app = parley({ name: "cloud", version: "1.0.0", store });
  // #region tool
  const provisionVm = app.tool(
    "provision_vm",
    { description: "Create a virtual machine", inputSchema: Order, task: "optional" },
    async ({ name, size }, ctx) => {
      const price = await ctx.step("price", () => cloud.price(size));
      const isWanted = await ctx.confirm("buy", `${name} costs $${price} a month. Create it?`);
      if (!isWanted) return "No VM was created.";

      await ctx.background(); // The call is a task from here on. The caller no longer waits.

      ctx.progress(1, 3, "creating the VM");
      const vm = await ctx.step("create", ({ idempotencyKey }) =>
        cloud.create(name, size, idempotencyKey),
      );
      const network = await ctx.choose("network", `Which network is ${vm} for?`, [
        "public",
        "private",
      ]);
      await ctx.step("connect", ({ idempotencyKey }) => cloud.connect(vm, network, idempotencyKey));
      return `${name} runs as ${vm} in the ${network} network.`;
    },
  );
  // #endregion
  return { app, provisionVm };
}
