// The site: agents ask for deployments at /mcp, and people decide on them at /approve.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { parley } from "mcp-parley";
import type { Logger, Store } from "mcp-parley";
import { decide, show } from "./page.ts";
import { auth, personNamed } from "./people.ts";
import { deployTool } from "./tool.ts";
import type { DeployRequest } from "./tool.ts";
import type { Trail, TrailLine } from "./trail.ts";

export interface SiteOptions {
  readonly store: Store;
  readonly keys?: string | undefined;
  readonly logger?: Logger | undefined;
  readonly port: number;
  readonly trail: Trail;
  /** Sends a mail to everyone who may approve. */
  readonly mail: (subject: string, link: string) => void;
  readonly deploy: (what: string, idempotencyKey: string) => void | Promise<void>;
}

export async function startSite({ port, trail, mail, deploy, ...options }: SiteOptions) {
  const app = parley({
    name: "deploy-approval",
    version: "1.0.0",
    auth,
    principal: ({ extra }) => String(extra?.["sub"]),
    ...options,
  });
  const note = (request: DeployRequest, did: TrailLine["did"], outcome: string) =>
    trail.write({ who: request.requester, did, what: request.what, call: request.call, outcome });
  deployTool(app, {
    announce: (request, ticket) => {
      note(request, "ask", "waiting");
      mail(
        `${request.requester} wants to deploy ${request.what}`,
        `${url}/approve?ticket=${ticket}`,
      );
    },
    deploy: async (request, approvedBy, idempotencyKey) => {
      await deploy(request.what, idempotencyKey);
      note(request, "deploy", `done, approved by ${approvedBy}`);
    },
    giveUp: (request) => note(request, "wait", "no answer"),
  });

  async function serve(req: IncomingMessage, res: ServerResponse) {
    const { pathname, searchParams } = new URL(req.url ?? "/", "http://localhost");
    if (pathname === "/mcp") return app.node(req, res);
    if (pathname !== "/approve") return res.writeHead(404).end();
    const person = personNamed(/person=(\w+)/.exec(req.headers.cookie ?? "")?.[1]);
    const sent = req.method === "POST" ? new URLSearchParams(await text(req)) : searchParams;
    const ticket = sent.get("ticket") ?? "";
    const { status, html } =
      req.method === "POST"
        ? await decide(app, trail, ticket, person, sent.get("decision") === "approve")
        : show(app, trail, ticket, person);
    return res.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(html);
  }

  const server = createServer((req, res) => {
    serve(req, res).catch((error: unknown) => {
      console.error(error);
      res.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : port}`;
  // `app.listen` would run tasks by itself. With a server of your own, start a worker.
  await app.work();
  return {
    url,
    app,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await app.close();
    },
  };
}
