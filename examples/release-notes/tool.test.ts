import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { memoryStore } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { crashTest, play } from "mcp-parley/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { scriptedModel } from "./scripted-model.ts";
import { releaseNotesTool } from "./tool.ts";

const script = {
  "Release notes": "Results arrive while they are made.",
  Announce: "Version 2.0 streams.",
};
const release = { version: "2.0", changes: ["Results arrive while they are made"] };
const site = { publish: async (_text: string, key: string) => `https://example.com/${key.length}` };

/** A client that follows tasks and streams, and has no model of its own. */
const noModel = { can: ["form", "task", "stream"] } as const;

const { releaseNotes } = releaseNotesTool(scriptedModel(script), site);

test("the notes are approved, and the announcement is written in the background", async () => {
  const call = await play(releaseNotes, release, { approve: true }, { client: noModel });
  expect(call.text).toMatch(
    /^Version 2\.0 streams\.\n\nResults arrive while they are made\.\n\nPublished at /,
  );
  expect(call.task?.statuses.at(-1)).toBe("completed");
  expect(call.ran("notes")).toBe(1);
  expect(call.ran("announcement")).toBe(1);
  expect(call.streamed("notes").text).toBe(script["Release notes"]);
  expect(call.streamed("announcement").text).toBe(script.Announce);
});

test("notes that are not approved are not published", async () => {
  const call = await play(releaseNotes, release, { approve: false }, { client: noModel });
  expect(call).toMatchObject({ text: "Nothing was published.", task: undefined });
  expect(call.ran("publish")).toBe(0);
});

test("the client's own model writes the notes, if it has one", async () => {
  const answers = { "notes-of-client": "Written at the client's.", approve: true };
  const call = await play(releaseNotes, release, answers);
  expect(call.text).toContain("Written at the client's.");
});

test("no crash publishes twice under another key", async () => {
  const mayRepeat = ["notes", "announcement"]; // A model may write again, because its text has had no effect yet.
  await crashTest(releaseNotes, release, { approve: true }, { client: noModel, mayRepeat });
});

test("a client reads on in the background, and has all of both texts at the end", async () => {
  const { app } = releaseNotesTool(scriptedModel(script), site, memoryStore());
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const server = await connect(url, {
    elicit: () => ({ action: "accept", content: { confirm: true } }),
  });
  onTestFinished(() => server.close());
  const call = server.start("release_notes", release);
  const blocks = new Map<string, string>();
  let isTask = false;
  for await (const event of call) {
    if (event.type === "part") blocks.set(event.block, event.soFar.text);
    isTask ||= event.type === "task";
  }
  expect(isTask).toBe(true);
  expect(Object.fromEntries(blocks)).toEqual({
    notes: script["Release notes"],
    announcement: script.Announce,
  });
  expect((await call.result()).text).toContain(script.Announce);
});

test("the official client reads along while the model writes", async () => {
  const { app } = releaseNotesTool(scriptedModel(script), site, memoryStore());
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  // #region client
  const streaming = "io.github.mcp-parley/streaming";
  const client = new Client(
    { name: "reader", version: "1.0.0" },
    {
      capabilities: { elicitation: {}, extensions: { [streaming]: {} } },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    },
  );
  const Part = z.object({
    block: z.string(),
    op: z.enum(["append", "replace", "reset"]).default("append"),
    content: z.array(z.object({ text: z.string().default("") })).default([]),
  });
  const blocks = new Map<string, string>();
  client.setNotificationHandler(
    `notifications/${streaming}/part`,
    { params: Part },
    ({ block, op, content }) => {
      const before = op === "append" ? (blocks.get(block) ?? "") : "";
      blocks.set(block, before + content.map(({ text }) => text).join(""));
    },
  );
  // #endregion
  const seen: string[] = [];
  client.setRequestHandler("elicitation/create", () => {
    seen.push(blocks.get("notes") ?? "");
    return { action: "accept" as const, content: { confirm: true } };
  });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const _meta = { [streaming]: { token: "1" } };
  const { content } = await client.callTool({ name: "release_notes", arguments: release, _meta });
  // The notes were there before the question about them.
  expect(seen).toEqual([script["Release notes"]]);
  expect(blocks.get("announcement")).toBe(script.Announce);
  expect(JSON.stringify(content)).toContain("Published at");
});
