// Streams from Parley's server to Parley's client: whatever breaks, a reader holds what was recorded.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { memoryStore } from "mcp-parley";
import type { App } from "mcp-parley";
import { connect, withTasks } from "mcp-parley/client";
import type { Call, ConnectOptions, Part } from "mcp-parley/client";
import { sqliteStore } from "mcp-parley/sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { gate } from "../gate.fixture.ts";
import { stdioPlace } from "../interop/stdio-place.ts";
import { patience } from "../patience.ts";
import { startProgram } from "../programs.ts";
import { reportApp } from "./streaming-report.ts";

const elicit: ConnectOptions["elicit"] = ({ key }) => ({
  action: "accept",
  content: { [key]: `${key.toUpperCase()}!` },
});

async function served(app: App, worker = true): Promise<string> {
  onTestFinished(() => app.close());
  const { url } = await app.listen(0, { worker });
  return url;
}

async function connected(url: Parameters<typeof connect>[0], options: ConnectOptions = {}) {
  const connection = await connect(url, { elicit, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

/** Holds what each part says. */
class Reader {
  readonly held = new Map<string, string>();
  readonly seen: string[] = [];

  readonly take = ({ block, op, text, soFar }: Part): void => {
    this.seen.push(`${op} ${block}`);
    if (op === "reset") this.held.delete(block);
    else this.held.set(block, op === "replace" ? text : (this.held.get(block) ?? "") + text);
    expect(this.held.get(block) ?? "").toBe(soFar.text);
  };

  async read(call: Call): Promise<void> {
    for await (const event of call) if (event.type === "part") this.take(event);
  }

  /** All text, in the form of the result. */
  get text(): string {
    return ["one", "two", "three", "four", "five"].map((key) => this.held.get(key) ?? "").join("|");
  }
}

const whole = "The first round. |By A!. |For B!. |In the background. |The C!.";

test("three rounds, a task and its question", async () => {
  const url = await served(reportApp({ store: memoryStore() }, async () => {}));
  const connection = await connected(url);
  const reader = new Reader();
  const call = connection.start("report");
  const order: string[] = [];
  for await (const event of call) {
    if (event.type === "part") reader.take(event);
    order.push(event.type === "part" ? event.block : event.type);
  }
  expect((await call.result()).text).toBe(whole);
  expect(reader.text).toBe(whole);
  expect(
    reader.seen.filter((one) => !one.startsWith("append") && !one.startsWith("replace")),
  ).toEqual([]);
  const firsts = order.filter((what, at) => order.indexOf(what) === at || what === "asked");
  expect(firsts.filter((what) => what !== "progress" && what !== "answered")).toEqual([
    "one",
    "asked",
    "two",
    "asked",
    "three",
    "task",
    "four",
    "chart",
    "asked",
    "five",
    "done",
  ]);
  expect((await connection.call("report")).text).toBe(whole);
});

test("a plain client over withTasks: rounds, the task that the call becomes, and its question", async () => {
  const url = await served(reportApp({ store: memoryStore() }, async () => {}));
  const client = new Client(
    { name: "plain", version: "1.0.0" },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    },
  );
  onTestFinished(() => client.close());
  client.setRequestHandler("elicitation/create", ({ params }) => {
    const [key = ""] = Object.keys(
      ("requestedSchema" in params && params.requestedSchema.properties) || {},
    );
    return { action: "accept", content: { [key]: `${key.toUpperCase()}!` } };
  });
  const reader = new Reader();
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(withTasks(transport, { onPart: reader.take }));
  const { content } = await client.callTool({ name: "report", arguments: {} });
  expect(content).toEqual([{ type: "text", text: whole }]);
  expect(reader.text).toBe(whole);
});

test("a 2025-11-25 session, in which the parts come with the request, or with that for the result of the task", async () => {
  const url = await served(reportApp({ store: memoryStore() }, async () => {}));
  for (const task of [false, true]) {
    const connection = await connected(url, { era: "2025-11-25" });
    const reader = new Reader();
    const call = connection.start("report", {}, { task });
    await reader.read(call);
    expect((await call.result()).text).toBe(whole);
    expect([task, reader.text]).toEqual([task, whole]);
  }
});

test.each(["2026-07-28", "2025-11-25"] as const)("over stdio, %s", async (era) => {
  const place = stdioPlace(fileURLToPath(new URL("streaming-report.ts", import.meta.url)));
  const connection = await connected(place, { era });
  for (const task of era === "2025-11-25" ? [false, true] : [undefined]) {
    const reader = new Reader();
    const call = connection.start("report", {}, { task });
    await reader.read(call);
    expect((await call.result()).text).toBe(whole);
    expect([task, reader.text]).toEqual([task, whole]);
    // A task may have recorded it before it is read, and then it comes as a whole.
    expect(reader.seen).toContain(
      reader.seen.includes("replace one") && task === true ? "replace one" : "append one",
    );
  }
});

test("a reading that breaks off again and again", async () => {
  const url = await served(reportApp({ store: memoryStore() }, async () => {}));
  let cuts = 0;
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const body = init?.body;
    const isReading = typeof body === "string" && body.includes("/streaming/read");
    if (!isReading || cuts >= 3 || response.body === null) return response;
    cuts += 1;
    let chunks = 0;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        chunks += 1;
        if (chunks > 1) controller.error(new Error("cut"));
        else controller.enqueue(chunk);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(cut), { status, headers });
  };
  const reader = new Reader();
  await reader.read((await connected(url, { fetch: cutting })).start("report"));
  expect(cuts).toBeGreaterThan(0);
  expect(reader.text).toBe(whole);
});

test("a client that is replaced by another process at each question", async () => {
  const journal = mkdtempSync(join(tmpdir(), "parley-streaming-"));
  onTestFinished(() => rmSync(journal, { recursive: true, force: true }));
  const url = await served(reportApp({ store: memoryStore() }, async () => {}));
  const first = await connected(url, { elicit: "events", journal });
  for await (const { type } of first.start("report")) if (type === "asked") break;
  await first.close();
  for (let left = 5; ; left -= 1) {
    expect(left).toBeGreaterThan(0);
    const next = await connected(url, { elicit: "events", journal });
    const [kept] = await next.unfinished();
    const call = next.resume(kept?.ref ?? "");
    const reader = new Reader();
    let asked = 0;
    let isDone = false;
    for await (const event of call) {
      if (event.type === "part") reader.take(event);
      if (event.type === "done") isDone = true;
      if (event.type !== "asked") continue;
      asked += 1;
      if (asked === 2) break;
      for (const { key } of event.questions) {
        await call.answer(key, { action: "accept", content: { [key]: `${key.toUpperCase()}!` } });
      }
    }
    await next.close();
    if (!isDone) continue;
    // The last process holds what all the others were sent.
    expect(reader.text).toBe(whole);
    return;
  }
});

test("a replica that is killed in the middle of a stream", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-streaming-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "tasks.db");
  const store = sqliteStore(path, { leaseMs: 1_000 });
  const app = reportApp({ store }, async () => {});
  const url = await served(app, false);
  const writer = startProgram("test/client/streaming-writer.ts", { DATABASE: path });
  onTestFinished(() => writer.kill("SIGKILL"));
  const works = gate();
  void (async () => {
    for await (const line of writer.lines) if (line === "works") works.open();
  })();
  await works.opened;
  const reader = new Reader();
  const read = reader.read((await connected(url)).start("report"));
  await vi.waitFor(() => expect(reader.held.get("four")).toBe("In the "), patience);
  writer.kill("SIGKILL");
  await app.work();
  await read;
  expect(reader.text).toBe(whole);
}, 90_000);
