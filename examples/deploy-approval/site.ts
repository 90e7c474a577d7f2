// The site: agents ask for deployments at /mcp, and managers decide on them on the pages of the server.

import { parley } from "mcp-parley";
import type { AuditRecord, Logger, Store } from "mcp-parley";
import { auth, visitor } from "./people.ts";
import { deployTool } from "./tool.ts";
import type { Operations } from "./tool.ts";

export interface SiteOptions extends Operations {
  readonly store: Store;
  /** The public address. On this machine, the address that the site listens at is enough. */
  readonly url?: string | undefined;
  readonly keys?: string | undefined;
  readonly logger?: Logger | undefined;
  /** Gets each record of the audit. The store has them, too. */
  readonly audit?: ((record: AuditRecord) => void) | undefined;
}

export function makeSite({ mail, deploy, ...options }: SiteOptions) {
  const app = parley({
    name: "deploy-approval",
    version: "1.0.0",
    auth,
    principal: ({ extra }) => String(extra?.["sub"]),
    pages: { authorize: visitor },
    ...options,
  });
  const tool = deployTool(app, { mail, deploy });
  return { app, tool };
}
