import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { parley } from "../../server/parley.ts";
import { memoryStore } from "mcp-parley";
import { openPreview } from "./app-preview.ts";

async function preview() {
  const app = parley({ name: "desk", version: "1.0.0", store: memoryStore() });
  app.tool("rename", { ui: "form" }, async (ctx) => `Renamed to ${await ctx.ask("name", "Name?")}`);
  app.tool("plain", {}, () => "done");
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());
  const opened = await openPreview(url);
  onTestFinished(opened.close);
  const at = (path: string) => new URL(path, opened.url);
  return { at, origin: at("/").origin };
}

const call = (name: string) => JSON.stringify({ name, arguments: {} });

test("lists the tools that show the App, and calls them as a host that renders it", async () => {
  const { at, origin } = await preview();
  expect(await (await fetch(at("/tools"))).json()).toEqual([{ name: "rename", example: "{}" }]);
  const response = await fetch(at("/call"), {
    method: "POST",
    headers: { origin },
    body: call("rename"),
  });
  expect(JSON.stringify(await response.json())).toContain("A form is shown to the user.");
  expect(JSON.stringify(await (await fetch(at("/app"))).json())).toContain("<!doctype html>");
});

test.each([
  ["another site", { origin: "https://evil.example.com" }],
  ["no site", {}],
])("takes no call from %s", async (_who, headers) => {
  const { at } = await preview();
  const body = call("rename");
  expect((await fetch(at("/call"), { method: "POST", headers, body })).status).toBe(403);
});

test("is not served by another name, which could belong to someone else", async () => {
  const { at } = await preview();
  const status = await new Promise((resolve, reject) => {
    const sent = request(at("/tools"), { headers: { host: "evil.example.com" } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject).end();
  });
  expect(status).toBe(403);
});
