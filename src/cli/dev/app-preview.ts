// `parley dev --client app`: a host that renders MCP Apps, on this machine. Its page calls the server through this program,
// because browsers do not let a page of another origin do it.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { appsExtension, appType, formUri } from "../../protocol/paused-call.ts";
import { errorText } from "../../util/error-text.ts";
import { isObject, own } from "../../util/objects.ts";
import { exampleValue } from "./example-value.ts";
import { previewPage } from "./preview-page.ts";

/** A host that is open. */
export interface AppPreview {
  readonly url: string;
  readonly close: () => void;
}

/** Opens a host for the server at this address. */
export async function openPreview(server: string): Promise<AppPreview> {
  let origin = "";
  const http = createServer((request, response) => void respond(server, origin, request, response));
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(0, "127.0.0.1", () => resolve());
  });
  const address = http.address();
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url: `${origin}/`,
    close: () => {
      http.close();
      http.closeAllConnections();
    },
  };
}

/** The same as the specification demands of hosts. The frame of the App inherits it. */
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'";

async function respond(
  server: string,
  ownOrigin: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url = "/", method, headers } = request;
  const json = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(body));
  };
  // No other site may call the server through this one, not even with a name that leads here.
  const isOwn = headers.host === new URL(ownOrigin).host;
  const isForeign = headers.origin !== undefined && headers.origin !== ownOrigin;
  const needsOrigin = method === "POST" && headers.origin === undefined;
  if (!isOwn || isForeign || needsOrigin) return json(403, { message: "Open the page itself." });
  try {
    if (method === "GET" && url === "/") {
      const type = { "content-type": "text/html; charset=utf-8" };
      response.writeHead(200, { ...type, "content-security-policy": policy }).end(previewPage);
    } else if (method === "GET" && url === "/tools") {
      json(200, await connected(server, toolsOf));
    } else if (method === "GET" && url === "/app") {
      json(200, await connected(server, appOf));
    } else if (method === "POST" && url === "/call") {
      const sent: unknown = JSON.parse(await bodyOf(request));
      const name = String(own(sent, "name"));
      const args = own(sent, "arguments");
      const call = { name, arguments: isObject(args) ? { ...args } : {} };
      json(200, await connected(server, (client) => client.callTool(call)));
    } else {
      json(404, { message: "There is no such page." });
    }
  } catch (error) {
    json(502, { message: errorText(error) });
  }
}

/** A connection for each request, because the server restarts when its file changes. */
async function connected<T>(server: string, use: (client: Client) => Promise<T>): Promise<T> {
  const extensions = { [appsExtension]: { mimeTypes: [appType] } };
  const client = new Client(
    { name: "parley dev", version: "1.0.0" },
    { capabilities: { extensions }, versionNegotiation: { mode: "auto" } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(server)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** The tools that show the App, with arguments to try. */
async function toolsOf(client: Client): Promise<readonly { name: string; example: string }[]> {
  const { tools } = await client.listTools();
  return tools.flatMap(({ name, inputSchema, _meta }) => {
    if (own(own(_meta, "ui"), "resourceUri") !== formUri || name === "continue_call") return [];
    const { properties = {}, required = [] } = inputSchema;
    const args = required.map((key) => [key, exampleValue(properties[key]) ?? ""] as const);
    return [{ name, example: JSON.stringify(Object.fromEntries(args), undefined, 2) }];
  });
}

async function appOf(client: Client): Promise<{ html: string }> {
  const { contents } = await client.readResource({ uri: formUri });
  const [document] = contents;
  return { html: document !== undefined && "text" in document ? document.text : "" };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
