// The console's page, served with made-up data. The pages of the tests in console-page.browser.ts come from here, where the
// question is how the page behaves; whether the console says the truth is tested with a real server.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { staticFile, shell } from "../../src/console/shell.ts";
import type { LiveLine, Session } from "../../src/console/wire.ts";
import * as data from "./console-data.ts";

export interface Desk {
  /** Where the page is. */
  readonly at: string;
  /** Takes the store away, or gives it back. */
  readonly setDown: (is: boolean) => void;
  /** Since when the store is away, as the server says. */
  readonly downSince: number;
  readonly say: (line: LiveLine) => void;
  readonly close: () => Promise<void>;
}

/** Serves the page. */
export async function openDesk(
  options: { readonly tasks?: number; readonly session?: Partial<Session> } = {},
): Promise<Desk> {
  const { tasks = 100_000 } = options;
  const readers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const answered = new Set<string>();
  let isDown = false;
  // The server noticed before the page did.
  const since = Date.now() - 180_000;
  const say = (line: LiveLine) => {
    for (const reader of readers) reader.enqueue(Buffer.from(`${JSON.stringify(line)}\n`));
  };
  const live = (): Response => {
    let own: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (reader) => {
        own = reader;
        readers.add(reader);
        reader.enqueue(Buffer.from('{"type":"beat"}\n'));
      },
      cancel: () => void readers.delete(own),
    });
    return new Response(body);
  };
  const api = (path: string, query: URLSearchParams, body: object): unknown => {
    const [, name, id] = path.split("/");
    switch (name) {
      case "session":
        return { ...data.session, ...options.session };
      case "inbox": {
        const isWanted = (key: "group" | "tool", value: string | undefined) =>
          !query.has(key) || query.get(key) === value;
        const items = data.inbox.filter(
          ({ key, group, tool }) =>
            !answered.has(key) && isWanted("group", group) && isWanted("tool", tool),
        );
        return { items: tasks === 0 ? [] : items };
      }
      case "answers":
      case "decisions":
        if ("key" in body) answered.add(String(body.key));
        say({ type: "any" });
        return { status: name === "answers" ? "delivered" : "approved" };
      case "tasks":
        return id === undefined ? list(query, tasks) : details(decodeURIComponent(id));
      case "health":
        return data.health();
      case "calls":
        return id === undefined ? { calls: data.calls } : data.callDetails();
      case "try":
        return data.tried(body);
      case undefined:
      default:
        return undefined;
    }
  };
  const serve = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    const { pathname } = url;
    if (pathname === "/") return shell();
    if (!pathname.startsWith("/api/")) {
      return (await staticFile(pathname, request)) ?? new Response(null, { status: 404 });
    }
    if (pathname === "/api/live") return live();
    if (isDown && pathname !== "/api/session") {
      const error = { code: "store_down", message: "The task store cannot be reached.", since };
      return Response.json({ error }, { status: 503 });
    }
    const body: unknown = request.method === "POST" ? await request.json() : {};
    const found = api(pathname.slice(4), url.searchParams, Object(body));
    if (found !== undefined) return Response.json(found);
    const error = { code: "not_found", message: "There is nothing at this address." };
    return Response.json({ error }, { status: 404 });
  };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => void chunks.push(chunk));
    req.on("end", () => {
      const request = new Request(new URL(req.url ?? "/", "http://desk"), {
        method: req.method ?? "GET",
        headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      void serve(request).then(async (response) => {
        res.writeHead(response.status, Object.fromEntries(response.headers));
        res.on("close", () => void reader?.cancel().catch(() => {}));
        const reader = response.body?.getReader();
        for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
          res.write(part.value);
        }
        res.end();
      });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    at: `http://127.0.0.1:${port}/`,
    downSince: since,
    setDown: (is) => {
      isDown = is;
      say({ type: "store", isDown: is, ...(is && { since }) });
    },
    say,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** A page of the list. `after` is the number of the first task. */
function list(query: URLSearchParams, all: number): unknown {
  const limit = Number(query.get("limit") ?? 50);
  const [status, tool, principal] = ["status", "tool", "principal"].map((name) => query.get(name));
  const found = [];
  let at = query.has("stuck") ? data.stuckAt : Number(query.get("after") ?? 0);
  for (; at < all && found.length < limit; at++) {
    const task = data.taskAt(at);
    const isWanted =
      (status === null || status === task.status) &&
      (tool === null || tool === task.tool) &&
      (principal === null || principal === task.principal);
    if (isWanted) found.push(task);
    if (query.has("stuck")) at = all;
  }
  return { tasks: found, counts: data.counts, ...(at < all && { next: String(at) }) };
}

function details(id: string): unknown {
  if (id === data.bigTask) return data.bigTaskDetails();
  const known = Array.from({ length: 100 }, (_, at) => data.taskAt(at));
  const row = [...known, data.taskAt(data.stuckAt)].find((task) => task.id === id);
  return row && data.taskDetails(row);
}
