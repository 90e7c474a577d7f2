// Which 2025-11-25 sessions end to make room for a new one, and which never do.

import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { LegacySessions } from "./legacy-sessions.ts";

const url = "http://127.0.0.1/mcp";

/** Sessions with a tool that waits until the test lets it go on, on a clock that the test moves. */
function opened(
  limits: { most: number; mostOfOne: number },
  newId = (number: number) => `session-${number}`,
) {
  const clock = { now: 0 };
  let due: (() => void) | undefined;
  let ids = 0;
  const waiting: (() => void)[] = [];
  const newServer = () => {
    const server = new McpServer({ name: "waits", version: "1.0.0" });
    server.registerTool("wait", {}, async () => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { content: [{ type: "text", text: "done" }] };
    });
    return server;
  };
  const sessions = new LegacySessions(newServer, {
    ...limits,
    idleMs: 1_000,
    newId: () => newId(++ids),
    now: () => clock.now,
    eventually: (_ms, callback) => {
      due = callback;
      return () => {};
    },
  });
  const send = (message: object, principal?: string, session?: string) => {
    clock.now += 1;
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    };
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const request = new Request(url, { method: "POST", headers, body });
    return sessions.handle(request, undefined, undefined, principal);
  };
  const clientInfo = { name: "by hand", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const initialize = (principal?: string) =>
    send({ id: 1, method: "initialize", params }, principal);
  /** Opens a session and returns its id. */
  const open = async (principal?: string) => {
    const response = await initialize(principal);
    await response.text();
    return response.headers.get("mcp-session-id") ?? `refused with ${response.status}`;
  };
  /** Calls the tool, and returns how the test ends the call and reads its response. */
  const call = async (session: string, principal?: string, id = 2) => {
    const { length } = waiting;
    const response = send(
      { id, method: "tools/call", params: { name: "wait", arguments: {} } },
      principal,
      session,
    );
    await expect.poll(() => waiting.length).toBe(length + 1);
    const end = waiting[length]!;
    return async () => {
      end();
      return (await response).text();
    };
  };
  const isOpen = async (session: string, principal?: string) => {
    const response = await send({ id: 9, method: "ping" }, principal, session);
    await response.text();
    return response.status === 200;
  };
  const sweep = async (ms: number) => {
    clock.now += ms;
    due?.();
  };
  return { initialize, open, call, send, isOpen, sweep };
}

test("the id of a session has the form of a UUID, as which some clients read it and send it back", async () => {
  const id = "216d3f1183850caccbe7afedebbe7e05";
  const { open, isOpen } = opened({ most: 1, mostOfOne: 1 }, () => id);
  expect(await open()).toBe("216d3f11-8385-0cac-cbe7-afedebbe7e05");
  expect(await isOpen("216d3f11-8385-0cac-cbe7-afedebbe7e05")).toBe(true);
});

test("a new session of a caller replaces that caller's own idle session", async () => {
  const { open, isOpen } = opened({ most: 3, mostOfOne: 3 });
  const adas = await open("ada");
  const [first, second] = [await open("eve"), await open("eve")];
  const third = await open("eve");
  expect(await isOpen(first, "eve")).toBe(false);
  expect([await isOpen(adas, "ada"), await isOpen(second, "eve")]).toEqual([true, true]);
  expect(await isOpen(third, "eve")).toBe(true);
});

test("a call under way is never ended, however many sessions others open", async () => {
  const { open, call } = opened({ most: 3, mostOfOne: 3 });
  const adas = await open("ada");
  const end = await call(adas, "ada");
  for (let n = 0; n < 10; n += 1) expect(await open("eve")).toMatch(/^session-/);
  expect(await end()).toContain("done");
});

test("a caller without a session replaces a session of the caller who has the most", async () => {
  const { open, isOpen } = opened({ most: 3, mostOfOne: 3 });
  const bobs = await open("bob");
  const eves = [await open("eve"), await open("eve")];
  const adas = await open("ada");
  expect(await isOpen(adas, "ada")).toBe(true);
  expect(await isOpen(bobs, "bob")).toBe(true);
  expect([await isOpen(eves[0]!, "eve"), await isOpen(eves[1]!, "eve")]).toEqual([false, true]);
});

test("if every session has a call under way, the next is refused, and served when one has ended", async () => {
  const { open, call, initialize } = opened({ most: 2, mostOfOne: 2 });
  const ends = [await call(await open("ada"), "ada"), await call(await open("bob"), "bob")];
  const refused = await initialize("eve");
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({
    error: {
      message:
        "This server has no room for another session: all 2 have a request under way. Try again later.",
    },
  });
  expect(await ends[0]!()).toContain("done");
  expect(await open("eve")).toMatch(/^session-/);
  expect(await ends[1]!()).toContain("done");
});

test("one caller may have only so many, even if there is room", async () => {
  const { open, call, initialize, isOpen } = opened({ most: 10, mostOfOne: 2 });
  const [first, second] = [await open("eve"), await open("eve")];
  const end = await call(first, "eve");
  await open("eve");
  expect(await isOpen(second, "eve")).toBe(false);
  const third = await call(await open("eve"), "eve");
  const refused = await initialize("eve");
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining("This caller already has 2 sessions") as string },
  });
  expect(await open("ada")).toMatch(/^session-/);
  expect([await end(), await third()].join()).toContain("done");
});

test("anonymous callers share the places of the process", async () => {
  const { open, isOpen } = opened({ most: 4, mostOfOne: 2 });
  const ids = [await open(), await open(), await open(), await open()];
  expect(await Promise.all(ids.map((id) => isOpen(id)))).toEqual([true, true, true, true]);
});

test("a session with a call under way outlives its idle time, and a cancelled call does not count", async () => {
  const { open, call, send, isOpen, sweep } = opened({ most: 3, mostOfOne: 3 });
  const [idle, busy, cancelled] = [await open("ada"), await open("ada"), await open("ada")];
  const end = await call(busy, "ada");
  await call(cancelled, "ada");
  await send({ method: "notifications/cancelled", params: { requestId: 2 } }, "ada", cancelled);
  await sweep(5_000);
  expect(await isOpen(idle, "ada")).toBe(false);
  expect(await isOpen(cancelled, "ada")).toBe(false);
  expect(await end()).toContain("done");
  expect(await isOpen(busy, "ada")).toBe(true);
});
