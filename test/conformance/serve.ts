// Serves the fixture in every way: by Parley itself, through each of its entries, and attached to official servers.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Listening, Store } from "mcp-parley";
import { configure, conformanceApp, identity } from "./fixture.ts";

export const ways = {
  direct: (port: number, store: Store): Promise<Listening> => directly(port, store, true),

  "over the SDK": (port: number, store: Store): Promise<Listening> => directly(port, store, false),

  attached: async (port: number, store: Store): Promise<Listening> => {
    const app = conformanceApp(() => modern.notify, store);
    await app.work();
    const newServer = () => {
      const server = new McpServer(identity);
      configure(server);
      return app.attach(server);
    };
    const modern = createMcpHandler(newServer, { legacy: "reject" });
    const legacy = sessions(newServer);
    const listening = await listen(port, async (request) =>
      (await isLegacyRequest(request)) ? legacy.fetch(request) : modern.fetch(request),
    );
    return {
      url: listening.url,
      close: async () => {
        await Promise.all([modern.close(), legacy.close()]);
        await listening.close();
        await app.close();
      },
    };
  },
};

async function directly(port: number, store: Store, fast: boolean): Promise<Listening> {
  const app = conformanceApp(({ notify }) => notify, store);
  app.onServer(configure);
  const { url } = await app.listen(port, { fast });
  return { url, close: app.close };
}

/** 2025-11-25 with sessions, wired by hand as the SDK's documentation shows. */
function sessions(newServer: () => McpServer) {
  const open = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const start = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void open.set(id, transport),
      onsessionclosed: (id) => void open.delete(id),
    });
    await newServer().connect(transport);
    return transport;
  };
  return {
    fetch: async (request: Request): Promise<Response> => {
      const id = request.headers.get("mcp-session-id");
      const transport = id === null ? await start() : open.get(id);
      return transport?.handleRequest(request) ?? new Response("No such session", { status: 404 });
    },
    close: async () => void (await Promise.all([...open.values()].map((one) => one.close()))),
  };
}

/** On the loopback address, for host names and pages of this machine. */
function listen(port: number, fetch: (request: Request) => Promise<Response>): Promise<Listening> {
  const handle = toNodeHandler({ fetch });
  const checks = [localhostHostValidation(), localhostOriginValidation()];
  const server = createServer((req, res) => {
    // A check that refuses the request has sent the response itself.
    if (!checks.every((isAllowed) => isAllowed(req, res))) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it differs in how optional members are typed
    void handle(req as NodeIncomingMessageLike, res);
  });
  const close = async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", () => {
      const address = server.address();
      const taken = typeof address === "object" && address !== null ? address.port : port;
      resolve({ url: `http://127.0.0.1:${taken}/mcp`, close });
    });
  });
}
