// A real browser, and a server with pages to open in it.

import { existsSync } from "node:fs";
import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { own } from "../../src/util/objects.ts";
import { callTool } from "../wire/post.ts";

const candidates = [
  process.env["CHROMIUM"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Starts Chromium. It is installed by the system, because npm has no package of it. */
export function openBrowser(): Promise<Browser> {
  const executablePath = candidates.find((path) => path !== "" && existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      "There is no Chromium here. Install it (on Debian: apt-get install -y chromium), or set CHROMIUM to its path.",
    );
  }
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return chromium.launch({ executablePath, headless: true, args });
}

const Everything = z.object({
  name: z.string().min(2).meta({ title: "Your name", description: "As it is on your badge." }),
  mail: z.email().optional(),
  site: z.url().optional(),
  day: z.iso.date().optional(),
  guests: z.int().min(0).max(9).default(1),
  meal: z.enum(["Fish", "Pasta", "Soup"]),
  country: z.enum(["AT", "BE", "CH", "DE", "ES", "FR", "IT", "NL"]).optional(),
  extras: z
    .array(z.enum(["Parking", "Breakfast"]))
    .max(2)
    .optional(),
  remarks: z.string().max(500).optional(),
  newsletter: z.boolean().default(true),
});

/** An app that listens, with one question of each kind. */
export async function serve(): Promise<{
  readonly app: App;
  readonly ask: (tool: string) => Promise<{ readonly url: string; readonly state: string }>;
  readonly answered: (tool: string, state: string) => Promise<string>;
}> {
  const app = parley({ name: "desk", version: "1.0.0", keys, logger: quiet, store: memoryStore() });
  app.tool("book", {}, async (ctx) =>
    JSON.stringify(await ctx.ask("q", "Please complete your booking for 4 March.", Everything)),
  );
  app.tool("erase", {}, async (ctx) =>
    String(await ctx.confirm("q", "Erase the archive of 2024? This cannot be undone.")),
  );
  app.tool("key", {}, (ctx) => ctx.ask("q", "Your API key?", undefined, { sensitive: true }));
  await app.listen(0);
  const capabilities = { elicitation: { url: {} } };
  return {
    app,
    ask: async (tool) => {
      const { result } = await callTool(app, tool, {}, { capabilities });
      const url = String(own(own(own(own(result, "inputRequests"), "q"), "params"), "url"));
      return { url, state: String(result?.["requestState"]) };
    },
    answered: async (tool, requestState) => {
      const inputResponses = { q: { action: "accept" } };
      const sent = { capabilities, requestState, inputResponses };
      const { result } = await callTool(app, tool, {}, sent);
      const content = result?.["content"];
      return String(Array.isArray(content) ? own(content[0], "text") : undefined);
    },
  };
}
