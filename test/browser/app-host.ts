// A host that renders MCP Apps in a real browser, on the official AppBridge and the official client.

import { createServer } from "node:http";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { CallToolResult, ClientOptions } from "@modelcontextprotocol/client";
import { build } from "esbuild";
import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import type { Browser, Frame, Page } from "playwright-core";
import { z } from "zod";
import { own } from "../../src/util/objects.ts";
import { keys, quiet } from "../interop/errands.ts";
import type { Manners } from "./app-host-page.ts";

const Booking = z.object({
  name: z.string().min(2).meta({ title: "Your name" }),
  guests: z.int().min(0).max(9).default(1),
  meal: z.enum(["Fish", "Pasta"]),
});

type Limits = NonNullable<ParleyOptions["limits"]>;

/** What a host shows, and what it was told. */
export interface Shown {
  readonly page: Page;
  readonly frame: Frame;
  /** What the model gets to read. */
  readonly contexts: unknown[];
  readonly heights: (number | undefined)[];
  readonly requested: string[];
  /** The tools that the App has called, and that have answered. */
  readonly called: string[];
  readonly close: () => Promise<void>;
}

export interface Look extends Partial<Manners> {
  readonly width?: number;
  readonly args?: Record<string, unknown>;
  /** Lets the test move the clock of the page, with `page.clock`. */
  readonly hasOwnClock?: boolean;
  /** An earlier result, as in an old conversation. */
  readonly result?: CallToolResult;
}

/** A host with a server of its own, whose steps write to `ran`. */
export interface AppHost {
  readonly ran: string[];
  readonly call: (tool: string, args?: Record<string, unknown>) => Promise<CallToolResult>;
  /** Calls a tool as a model does, and shows its App as a host does. */
  readonly show: (tool: string, look?: Look) => Promise<Shown>;
  readonly close: () => Promise<void>;
}

const sentence = "A part of the platform that nobody has touched for years. ";

/** Opens a host for a server, by default one with tools of every kind. */
export async function openHost(
  browser: Browser,
  given?: App,
  negotiation: NonNullable<ClientOptions["versionNegotiation"]> = { mode: "auto" },
): Promise<AppHost> {
  const ran: string[] = [];
  const app = given ?? appDesk(ran);
  const { url } = await app.listen(0);
  const client = await connected(url, negotiation);
  const site = await serveHostPage();
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: args });
  return {
    ran,
    call,
    show: async (tool, { width = 700, args, result, hasOwnClock, ...manners } = {}) => {
      const html = await appOf(client, tool);
      const shown = result ?? (await call(tool, args));
      const context = await browser.newContext({ viewport: { width, height: 800 } });
      const page = await context.newPage();
      if (hasOwnClock === true) await page.clock.install();
      const contexts: unknown[] = [];
      const heights: (number | undefined)[] = [];
      const requested: string[] = [];
      const called: string[] = [];
      await page.exposeFunction(
        "callServer",
        async (name: string, sent: Record<string, unknown>) => {
          const answer = await call(name, sent);
          called.push(name);
          return answer;
        },
      );
      await page.exposeFunction("noteContext", (one: unknown) => void contexts.push(one));
      await page.exposeFunction("noteSize", (height?: number) => void heights.push(height));
      await page.goto(site.url);
      page.on("request", (request) => requested.push(request.url()));
      // As text, because this file knows nothing of the page's own functions.
      const passed = [html, shown, { theme: "light", ...manners }]
        .map((one) => JSON.stringify(one))
        .join(", ");
      await page.evaluate(`showApp(${passed})`);
      const frame = page.frames()[1];
      if (frame === undefined) throw new Error("No App is shown.");
      return { page, frame, contexts, heights, requested, called, close: () => context.close() };
    },
    close: async () => {
      await client.close();
      await app.close();
      site.close();
    },
  };
}

/** A server with tools of every kind, whose steps write to `ran`. */
export function appDesk(ran: string[], limits: Limits = {}): App {
  const app = parley({
    name: "desk",
    version: "1.0.0",
    keys,
    logger: quiet,
    store: memoryStore(),
    relay: true,
    limits: { inlineMs: 1_000, ...limits },
  });
  app.tool("book", { ui: "form" }, async (ctx) => {
    const booking = await ctx.ask("booking", "Please complete your booking.", Booking);
    await ctx.step("hold", () => void ran.push(`hold ${booking.name}`));
    const isSure = await ctx.confirm("sure", "Pay 80 euros now?");
    await ctx.step("pay", () => void ran.push(`pay ${isSure}`));
    return `Booked: ${JSON.stringify(booking)} ${isSure}`;
  });
  app.tool("trip", { ui: "form", task: "optional" }, async (ctx) => {
    const to = await ctx.ask("to", "Where to?");
    await ctx.background();
    await ctx.sleep("search", 10);
    const seat = await ctx.ask("seat", "Which seat?");
    return `${to} ${seat}`;
  });
  app.tool("both", { ui: "form" }, async (ctx) => {
    const [from, to] = await Promise.all([
      ctx.ask("from", "Where from?"),
      ctx.ask("to", "Where to?", z.string().min(3)),
    ]);
    return `${from} to ${to}`;
  });
  app.tool("login", { ui: "form" }, async (ctx) => {
    const [user, secret] = await Promise.all([
      ctx.ask("user", "Your name?"),
      ctx.ask("secret", "Your password?", undefined, { sensitive: true }),
    ]);
    return `${user} ${secret}`;
  });
  app.tool("even", { ui: "form" }, async (ctx) => {
    const Even = z.int().refine((n) => n % 2 === 0, "be even");
    return String(await ctx.ask("n", "An even number?", Even));
  });
  app.tool("long", { ui: "form" }, async (ctx) => {
    const choices = Array.from({ length: 40 }, (_, n) => `Choice ${n}: ${sentence}`);
    const Long = z.object({
      what: z.string().meta({ description: sentence.repeat(4) }),
      which: z.enum([sentence.repeat(2), "unbroken".repeat(20)]),
      list: z.enum(choices),
    });
    return JSON.stringify(await ctx.ask("long", sentence.repeat(6), Long));
  });
  app.tool("arabic", { ui: "form" }, async (ctx) => {
    const Guest = z.object({
      name: z.string().meta({ title: "اسمك" }),
      meal: z.enum(["سمك", "معكرونة"]).meta({ title: "الوجبة" }),
    });
    return JSON.stringify(await ctx.ask("guest", "يرجى إكمال حجزك ليوم 4 مارس.", Guest));
  });
  app.tool("slow", { ui: "form", task: "optional" }, async (ctx) => {
    await ctx.ask("to", "Where to?");
    await ctx.background();
    await ctx.sleep("search", 3_600_000);
    return "found";
  });
  app.tool("plain", { ui: "form" }, () => "Nothing to ask.");
  return app;
}

async function connected(
  url: string,
  versionNegotiation: NonNullable<ClientOptions["versionNegotiation"]>,
): Promise<Client> {
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const options: ClientOptions = { capabilities: { extensions }, versionNegotiation };
  const client = new Client({ name: "host", version: "1.0.0" }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** The App that the list of tools names. */
async function appOf(client: Client, tool: string): Promise<string> {
  const { tools } = await client.listTools();
  const listed = tools.find(({ name }) => name === tool);
  const uri = String(own(own(listed?._meta, "ui"), "resourceUri"));
  const { contents } = await client.readResource({ uri });
  const [document] = contents;
  return document !== undefined && "text" in document ? document.text : "";
}

async function serveHostPage(): Promise<{ readonly url: string; readonly close: () => void }> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "app-host-page.ts")],
    bundle: true,
    minify: true,
    write: false,
  });
  const script = outputFiles[0]?.text ?? "";
  const server = createServer((_request, response) => {
    // What the specification demands of hosts where a resource asks for nothing. A frame without an address inherits it.
    response.setHeader(
      "content-security-policy",
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'",
    );
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><title>Host</title><body><script>${script}</script>`);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}
