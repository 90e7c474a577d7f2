// A deployment that two managers have to approve, perhaps hours later.

import { UnansweredError } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

export interface Operations {
  /** Sends the address of the page to the managers. */
  readonly mail: (subject: string, link: string, idempotencyKey: string) => void | Promise<void>;
  readonly deploy: (what: string, idempotencyKey: string) => void | Promise<void>;
}

const dayMs = 24 * 3_600_000;

export function deployTool(app: App, { mail, deploy }: Operations) {
  // #region tool
  return app.tool(
    "deploy",
    {
      description: "Deploy a version of a service after two managers have approved it",
      inputSchema: z.object({ service: z.string(), version: z.string() }),
      task: "required",
    },
    async ({ service, version }, ctx) => {
      const what = `${service} ${version}`;
      const requester = ctx.principal ?? "";
      try {
        const { decisions } = await ctx.approve("approval", `Deploy ${what}?`, {
          by: "managers",
          of: 2,
          about: { Service: service, Version: version, "Asked by": requester },
          notify: ({ url, idempotencyKey }) =>
            mail(`${requester} wants to deploy ${what}`, url, idempotencyKey),
          timeoutMs: dayMs,
        });
        await ctx.step("deploy", ({ idempotencyKey }) => deploy(what, idempotencyKey));
        return `${what} is deployed. Approved by ${decisions.map(({ who }) => who).join(" and ")}.`;
      } catch (error) {
        if (!(error instanceof UnansweredError)) throw error;
        const refusal = error.decisions.find(({ isApproved }) => !isApproved);
        return refusal === undefined
          ? `${what} was not deployed, because too few managers decided within a day. You can ask again.`
          : `${what} was not deployed. ${refusal.who} declined: ${refusal.note ?? "no reason given"}`;
      }
    },
  );
  // #endregion
}
