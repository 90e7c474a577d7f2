// A plain official client with `withTasks`, and a Parley server: over HTTP in this process, over stdio in another.

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { TaskLeftError } from "../../src/client/index.ts";
import { program } from "../programs.ts";
import { servedOven } from "../wire/task-calls.ts";
import { plainClient, textOf } from "./plain-client.ts";
import type { People, PlainClient } from "./plain-client.ts";
import { patience } from "../patience.ts";

/** The answers that every client gives. */
function say(message: string): Record<string, string | number | boolean> | undefined {
  const loaf = /^Which crust for loaf-(\d+)\?$/.exec(message)?.[1];
  if (loaf !== undefined) return { crust: crustOf(Number(loaf)) };
  if (message === "Which crust for rye?") return { crust: "thin" };
  if (message === "For whom?") return { name: "Ann" };
  if (message === "How many slices?") return { slices: 12 };
  if (message === "Who?") return { name: "Ann", news: true };
}

const crustOf = (index: number) => (index % 2 === 0 ? "thin" : "thick");

async function overHttp(people: Omit<People, "say"> = {}) {
  const { to, ...oven } = await servedOven();
  const requests: { readonly method: string; readonly name: string | null }[] = [];
  const counted: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    requests.push({ method: headers.get("mcp-method") ?? "", name: headers.get("mcp-name") });
    return fetch(url, init);
  };
  const transport = new StreamableHTTPClientTransport(new URL(to), { fetch: counted });
  const plain = await plainClient(transport, { say, ...people });
  onTestFinished(() => plain.client.close());
  return { ...plain, oven, requests };
}

async function overStdio(people: Omit<People, "say"> = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...program("test/wire/stdio-oven.ts")],
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stderr: "ignore",
  });
  return plainClient(transport, { say, ...people });
}

/** Tests that do not need a process of their own share one, because starting it is slow. */
let shared: Promise<PlainClient> | undefined;
afterAll(async () => (await shared)?.client.close());

const ways = {
  http: (people?: Omit<People, "say">): Promise<PlainClient> => overHttp(people),
  stdio: async (people?: Omit<People, "say">): Promise<PlainClient> => {
    if (people === undefined) return (shared ??= overStdio());
    const own = await overStdio(people);
    onTestFinished(() => own.client.close());
    return own;
  },
};

describe.each(["http", "stdio"] as const)("over %s", (way) => {
  test("a task is called like any other tool, and asks a question [C93]", async () => {
    const { client, shown, errors } = await ways[way]();
    const before = shown.length;
    const result = await client.callTool({ name: "bake", arguments: { loaf: "rye" } });
    expect(textOf(result)).toBe("rye with a thin crust");
    expect(shown.slice(before)).toEqual(["Which crust for rye?"]);
    expect(errors).toEqual([]);
  });

  test("one call can ask before the task and in it", async () => {
    const { client, shown } = await ways[way]();
    const before = shown.length;
    const result = await client.callTool({ name: "order", arguments: { loaf: "rye" } });
    expect(textOf(result)).toBe("rye for Ann in 12 slices");
    expect(shown.slice(before)).toEqual(["rye for 3?", "For whom?", "How many slices?"]);
  });

  test("a task can ask every kind of question at once", async () => {
    const { client, shown } = await ways[way]();
    const before = shown.length;
    const result = await client.callTool({ name: "every_kind", arguments: {} });
    expect(JSON.parse(textOf(result))).toEqual({
      form: say("Who?"),
      sample: "Bread first",
      roots: [{ uri: "file:///bakery" }],
    });
    const kinds = ["(roots)", "(sampling)", "Sign in", "Who?"];
    expect(shown.slice(before).toSorted()).toEqual(kinds);
  });

  test("a failure in a task fails the call, with the server's message", async () => {
    const { client } = await ways[way]();
    const burnt = await client.callTool({ name: "burn", arguments: {} });
    expect(burnt.isError).toBe(true);
    await expect(client.callTool({ name: "short", arguments: {} })).rejects.toMatchObject({
      code: 4711,
      data: { fuse: 3 },
    });
  });

  test("a result that is not a task is unchanged, and so is structured content", async () => {
    const { client } = await ways[way]();
    await client.listTools();
    expect(textOf(await client.callTool({ name: "quick", arguments: {} }))).toBe("done at once");
    const { structuredContent } = await client.callTool({ name: "weigh", arguments: {} });
    expect(structuredContent).toEqual({ grams: 500 });
  });

  test("a task works with the negotiated revision", async () => {
    const { client } = await ways[way]({ versionNegotiation: { mode: "auto" } });
    expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    expect(textOf(await client.callTool({ name: "weigh", arguments: {} }))).toContain("500");
  });

  test("a legacy session is unchanged", async () => {
    const { client } = await ways[way]({ versionNegotiation: { mode: "legacy" } });
    expect(textOf(await client.callTool({ name: "quick", arguments: {} }))).toBe("done at once");
  });

  test("in twenty calls at once, no answer reaches another call", async () => {
    const loaves = Array.from({ length: 20 }, (_, index) => `loaf-${index}`);
    const { client } = await ways[way]();
    const bake = async (loaf: string) =>
      textOf(await client.callTool({ name: "bake", arguments: { loaf } }));
    const baked = await Promise.all(loaves.map(bake));
    expect(baked).toEqual(loaves.map((loaf, index) => `${loaf} with a ${crustOf(index)} crust`));
  });
});

describe("over HTTP", () => {
  test("requests for a task have its id in their headers", async () => {
    const { client, requests } = await overHttp();
    await client.callTool({ name: "bake", arguments: { loaf: "rye" } });
    const names = new Map(requests.map(({ method, name }) => [method, name]));
    const id = names.get("tasks/get");
    expect(id).toMatch(/^[\w-]{20,}$/);
    expect(names.get("tasks/update")).toBe(id);
    expect(names.has("subscriptions/listen")).toBe(true);
  });

  test("a caller that gives up leaves the task running, or cancels it", async () => {
    for (const cancelOnAbort of [false, true]) {
      const { client, errors, oven, requests } = await overHttp({ options: { cancelOnAbort } });
      const given = new AbortController();
      const calling = client.callTool({ name: "proof", arguments: {} }, { signal: given.signal });
      calling.catch(() => {});
      await vi.waitFor(() => expect(oven.ran).toEqual(["proof"]), patience);
      // The body may run before the client learns that the call is a task.
      const methods = () => requests.map(({ method }) => method);
      await vi.waitFor(() => expect(methods()).toContain("subscriptions/listen"), patience);
      given.abort(new Error("enough"));
      await expect(calling).rejects.toThrow("enough");
      if (cancelOnAbort) {
        await vi.waitFor(() => expect(oven.stopped).toHaveLength(1), patience);
        expect(errors).toEqual([]);
      } else {
        expect(errors).toEqual([expect.any(TaskLeftError)]);
        expect(oven.stopped).toEqual([]);
      }
      oven.done.resolve();
    }
  });

  test("progress keeps a long task alive if the caller asks for that", async () => {
    const { client, oven } = await overHttp({ options: { progressMs: 50 } });
    let heard = 0;
    const onprogress = () => {
      heard += 1;
      if (heard === 30) oven.done.resolve();
    };
    onTestFinished(() => oven.done.resolve());
    const result = await client.callTool(
      { name: "rise", arguments: {} },
      { onprogress, resetTimeoutOnProgress: true, timeout: 1_000 },
    );
    expect(textOf(result)).toBe("risen");
    expect(heard).toBeGreaterThanOrEqual(30);
  });
});
