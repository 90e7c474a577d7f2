// The tool of the demo creates a VM. You confirm the price while the caller waits. The rest runs in the background, and
// asks one more question.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import { parley } from "../../server/parley.ts";
import type { App } from "../../server/app.ts";
import { stderrLogger } from "../../server/ops/logger.ts";
import type { Logger } from "../../server/ops/logger.ts";
import type { Schema } from "../../server/forms/schema.ts";
import type { Tool } from "../../server/define/tool.ts";
import type { Store } from "../../tasks/store.ts";

/** The cloud, as the tool uses it. */
export interface Cloud {
  /** The price in dollars a month. */
  readonly price: (size: string) => number;
  /** Creates a VM. A repeated request with the same key returns the existing VM, as clouds do. */
  readonly create: (name: string, size: string, idempotencyKey: string) => Promise<string>;
  /** Connects a VM to a network. */
  readonly configure: (vm: string, network: string, idempotencyKey: string) => Promise<void>;
}

interface Order {
  readonly name: string;
  readonly size: "small" | "large";
}

/** Plain JSON Schema, because the command has no schema library. */
const Order: Schema<Order> = fromJsonSchema<Order>({
  type: "object",
  properties: { name: { type: "string" }, size: { enum: ["small", "large"] } },
  required: ["name", "size"],
});

/** The demo prints the events itself. */
const quiet: Logger = { ...stderrLogger, info: () => {}, warn: () => {} };

/** The app and its tool. */
export interface VmProvision {
  readonly app: App;
  readonly provisionVm: Tool<Order, undefined>;
}

/** The app of the demo. */
export function vmProvision(cloud: Cloud, store?: Store): VmProvision {
  const settings = { name: "vm-provision", version: "1.0.0", logger: quiet };
  // With a store, clients that cannot be asked get a page for each question.
  const app = parley(store === undefined ? settings : { ...settings, store, relay: true });
  // #region tool
  const provisionVm = app.tool(
    "provision_vm",
    { description: "Create a virtual machine", inputSchema: Order, task: "optional" },
    async ({ name, size }, ctx) => {
      const price = await ctx.step("price", () => cloud.price(size));
      const isWanted = await ctx.confirm(
        "buy",
        `${name} (${size}) is $${price} a month. Create it?`,
      );
      if (!isWanted) return "No VM was created.";

      await ctx.background(); // from here on it is a task, and the caller need not wait

      ctx.progress(1, 3, "creating the VM");
      const vm = await ctx.step("create", ({ idempotencyKey }) =>
        cloud.create(name, size, idempotencyKey),
      );
      ctx.progress(2, 3, `${vm} is there`);
      const network = await ctx.choose("network", `Which network is ${vm} for?`, [
        "public",
        "private",
      ]);
      await ctx.step("configure", ({ idempotencyKey }) =>
        cloud.configure(vm, network, idempotencyKey),
      );
      return `${name} runs as ${vm} in the ${network} network, for $${price} a month.`;
    },
  );
  // #endregion
  return { app, provisionVm };
}
