// A call that is undone: the VM that it made does not stay behind if the call is cancelled or fails.

import { parley } from "mcp-parley";
import type { Store } from "mcp-parley";
import { z } from "zod";

export interface Cloud {
  /** Called again with the same key, it returns the VM that it has already created. */
  readonly create: (name: string, idempotencyKey: string) => Promise<string>;
  /** Deletes the VM that was created with this key, if there is one. */
  readonly remove: (idempotencyKey: string) => Promise<void>;
}

export function trialVmTool(cloud: Cloud, store?: Store) {
  const app = parley({ name: "cloud", version: "1.0.0", store });
  // #region tool
  const deleteVm = app.undo<string>("delete_vm", ({ idempotencyKey }) =>
    cloud.remove(idempotencyKey),
  );

  const trialVm = app.tool(
    "trial_vm",
    {
      description: "Create a virtual machine on trial",
      inputSchema: z.object({ name: z.string() }),
      task: "required",
    },
    async ({ name }, ctx) => {
      await ctx.background();
      const vm = await ctx.step(
        "create",
        ({ idempotencyKey }) => cloud.create(name, idempotencyKey),
        {
          undo: deleteVm,
        },
      );
      const isWanted = await ctx.confirm("keep", `${vm} runs. Keep it?`);
      if (!isWanted) throw new Error(`${vm} was not wanted.`);
      return `${name} runs as ${vm}.`;
    },
  );
  // #endregion
  return { app, trialVm };
}
