// Attacks over real sockets on a server with a heap of 1 GB. What an attacking request costs the server is compared with a
// plain call of the same run. `npm run test:attack` sends more of everything.

import { describe, expect, test } from "vitest";
import { accept, callTool, envelope, exchange, post, tokenIn } from "../wire/post.ts";
import { attacks, isFull } from "./attackers.ts";
import { plain, plainCost, sent, startTarget, whole } from "./target.ts";
import type { Connection, Target } from "./target.ts";

const times = isFull ? 50 : 10;
const mib = 1024 * 1024;

/** Repeats an attack, and returns what each time cost the server. */
async function costOf(target: Target, once: () => Promise<Connection | undefined>) {
  await once();
  const memory = await target.memory();
  const used = await target.cpu();
  const held: Connection[] = [];
  for (let count = 0; count < times; count += 1) {
    const connection = await once();
    if (connection !== undefined) held.push(connection);
  }
  const micros = ((await target.cpu()) - used) / times;
  const bytes = ((await target.memory()) - memory) / times;
  for (const { socket } of held) socket.destroy();
  return { micros, bytes };
}

describe.each(["fast", "sdk"] as const)("over the %s entry", (entry) => {
  test("no request costs more than its stated factor of a plain call, or holds more than it may", async () => {
    const target = await startTarget({ entry, auth: true });
    const call = await plainCost(target, "ada");
    const found: string[] = [];
    for (const token of [undefined, "mallory"]) {
      // A stranger's request holds a megabyte at most.
      for (const { name, once, stranger = 10 } of attacks) {
        const { micros, bytes } = await costOf(target, () => once(target, token));
        if (micros > stranger * call || bytes > mib) {
          found.push(`${name}: ${(micros / call).toFixed(1)} calls, ${bytes} bytes`);
        }
      }
    }
    // A known caller's body of 1 MB is held while it arrives, in a buffer with room for more.
    for (const { name, once, known } of attacks) {
      const { micros, bytes } = await costOf(target, () => once(target, "eve"));
      if (micros > known * call || bytes > 3 * mib) {
        found.push(`${name}: ${(micros / call).toFixed(1)} calls, ${bytes} bytes`);
      }
    }
    expect(found).toEqual([]);
    expect(await sent(target, whole(target, plain, "ada"))).toBe(200);
  });

  test("a server without auth survives fifty attackers at the same time, and goes on serving", async () => {
    const target = await startTarget({ entry, auth: false });
    const chosen = isFull ? attacks : attacks.filter(({ isQuick }) => isQuick === true);
    for (const { name, once } of chosen) {
      const held = await Promise.all(Array.from({ length: 50 }, () => once(target, undefined)));
      expect([name, await sent(target, whole(target, plain))]).toEqual([name, 200]);
      for (const connection of held) connection?.socket.destroy();
    }
    expect(await target.memory()).toBeLessThan(200 * mib);
  });
});

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const follows = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: { form: {} } };

describe("one client", () => {
  test("does not fill the store by sending the same token again and again", async () => {
    const target = await startTarget({ entry: "fast", auth: true });
    const first = await callTool(target.url, "heavy", {}, as("eve"));
    const inputResponses = { first: accept({ first: true }) };
    const leg = { ...as("eve"), requestState: tokenIn(first), inputResponses };
    for (let count = 0; count < 20; count += 1) await callTool(target.url, "heavy", {}, leg);
    const before = await target.memory();
    for (let count = 0; count < 100; count += 1) await callTool(target.url, "heavy", {}, leg);
    // Each state is 200 kB. What else the process holds goes up and down by a few megabytes.
    expect(((await target.memory()) - before) / 100).toBeLessThan(100_000);
  });

  test("cannot end another's call with a flood of sessions", async () => {
    const target = await startTarget({ entry: "fast", auth: true });
    const initialize = {
      ...envelope("initialize"),
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { elicitation: { form: {} } },
        clientInfo: { name: "by hand", version: "1.0.0" },
      },
    };
    const legacy = (token: string, session?: string) => ({
      headers: {
        ...as(token).headers,
        "mcp-method": undefined,
        "mcp-name": undefined,
        "mcp-protocol-version": "2025-11-25",
        ...(session === undefined ? {} : { "mcp-session-id": session }),
      },
    });
    const opened = await post(target.url, initialize, legacy("ada"));
    await opened.text();
    const session = opened.headers.get("mcp-session-id") ?? "";
    const call = { ...plain, id: 2, params: { name: "ask", arguments: {} } };
    const running = await post(target.url, call, legacy("ada", session));
    const reader = running.body?.getReader();
    // Its question has arrived, so the call is under way.
    await reader?.read();
    for (let count = 0; count < 1_100; count += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async () =>
          (await post(target.url, initialize, legacy("eve"))).text(),
        ),
      );
    }
    const ping = { ...plain, id: 3, method: "ping", params: {} };
    const response = await post(target.url, ping, legacy("ada", session));
    expect(response.status).toBe(200);
    await response.text();
    await reader?.cancel();
  });

  test("cannot take all subscriptions, or read or end another's task", async () => {
    const target = await startTarget({ entry: "fast", auth: true });
    const long = envelope("tools/call", { name: "long", arguments: {} }, { capabilities: follows });
    const created = await exchange(target.url, long, as("ada"));
    const taskId = created.result?.["taskId"];
    const listen = (token: string) => {
      const params = { notifications: { taskIds: [taskId], toolsListChanged: true } };
      const message = envelope("subscriptions/listen", params, { capabilities: follows });
      return post(target.url, message, as(token));
    };
    const streams = await Promise.all(Array.from({ length: 1_100 }, () => listen("eve")));
    const refused = streams.filter(
      ({ headers }) => headers.get("content-type")?.startsWith("text/event-stream") !== true,
    );
    expect(refused.length).toBeGreaterThanOrEqual(1_000);
    const own = await listen("ada");
    expect(own.headers.get("content-type")).toContain("text/event-stream");
    for (const method of ["tasks/get", "tasks/cancel"]) {
      const message = envelope(method, { taskId }, { capabilities: follows });
      expect((await exchange(target.url, message, as("eve"))).error?.code).toBe(-32_602);
    }
    const get = envelope("tasks/get", { taskId }, { capabilities: follows });
    const { result } = await exchange(target.url, get, as("ada"));
    expect(result?.["status"]).toBe("input_required");
    for (const { body } of [...streams, own]) await body?.cancel();
  });
});
