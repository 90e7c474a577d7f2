// A deployment that another person has to approve, perhaps hours later.

import { UnansweredError } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

export interface DeployRequest {
  readonly call: string;
  readonly requester: string;
  readonly what: string;
}

export interface Operations {
  /** Sends a link that contains the ticket to the people who may approve. */
  readonly announce: (request: DeployRequest, ticket: string) => void | Promise<void>;
  readonly deploy: (
    request: DeployRequest,
    approvedBy: string,
    idempotencyKey: string,
  ) => void | Promise<void>;
  /** No answer came in time. */
  readonly giveUp: (request: DeployRequest) => void | Promise<void>;
}

/** The value that the page delivers. */
const Decision = z.object({ isApproved: z.boolean(), by: z.string() });

const dayMs = 24 * 3_600_000;

export function deployTool(app: App, operations: Operations) {
  // #region tool
  const deploy = app.tool(
    "deploy",
    {
      description: "Deploy a version of a service after another person has approved it",
      inputSchema: z.object({ service: z.string(), version: z.string() }),
      task: "required",
    },
    async ({ service, version }, ctx) => {
      const what = `${service} ${version}`;
      const request = { call: ctx.callId, requester: ctx.principal ?? "unknown", what };
      await ctx.background();
      ctx.progress(0, 1, "waiting for approval");
      try {
        const { isApproved, by } = await ctx.waitFor("approval", Decision, {
          notify: ({ ticket }) => operations.announce(request, ticket),
          timeoutMs: dayMs,
        });
        if (!isApproved) return `${what} was not deployed: ${by} said no.`;
        await ctx.step("deploy", ({ idempotencyKey }) =>
          operations.deploy(request, by, idempotencyKey),
        );
        return `${what} is deployed. ${by} approved it.`;
      } catch (error) {
        if (!(error instanceof UnansweredError)) throw error;
        await ctx.step("give-up", () => operations.giveUp(request));
        return `${what} was not deployed, because no answer came within a day. You can ask again.`;
      }
    },
  );
  // #endregion
  return deploy;
}
