// A shop whose orders are tasks: they ask the client, wait for a group and run steps. The tests of the console look at it.

import { memoryStore, parley } from "mcp-parley";
import type { App, Logger } from "mcp-parley";
import type { Store } from "mcp-parley/store";
import { expect, vi } from "vitest";
import { z } from "zod";
import { keys as usualKeys } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { begun } from "../wire/task-calls.ts";
import type { consoleAt } from "./opened.ts";
import { admin } from "./opened.ts";

export interface Shop {
  readonly app: App;
  readonly store: Store;
  /** The steps that ran. */
  readonly ran: string[];
}

export const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export function shop(
  options: {
    readonly store?: Store;
    readonly logger?: Logger;
    readonly name?: string;
    readonly keys?: string;
  } = {},
): Shop {
  const { store = memoryStore(), logger = quiet, name = "shop", keys = usualKeys } = options;
  const app = parley({ name, version: "1.0.0", keys, store, logger, principal: () => "cleo" });
  const ran: string[] = [];
  const Order = z.object({ item: z.string() });
  app.tool("order", { inputSchema: Order, task: "required" }, async ({ item }, ctx) => {
    await ctx.background();
    await ctx.step("reserve", () => {
      ran.push("reserve");
      return { reserved: item };
    });
    const how = await ctx.ask("how", `How to send ${item}?`, z.object({ way: z.string() }));
    await ctx.step("send", () => void ran.push("send"));
    return `${item} sent by ${how.way}`;
  });
  app.tool("pay", { inputSchema: Order, task: "required" }, async ({ item }, ctx) => {
    await ctx.background();
    const by = await ctx.waitFor("sign", z.object({ ok: z.boolean() }), {
      about: { Item: item },
      notify: () => {},
    });
    return by.ok ? "paid" : "refused";
  });
  app.tool("nap", { task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.sleep("long", 3_600_000);
    return "awake";
  });
  app.tool("refund", { inputSchema: Order, task: "required" }, async ({ item }, ctx) => {
    await ctx.background();
    const { decisions } = await ctx.approve("refund", `Refund the ${item}?`, {
      by: "finance",
      of: 2,
    });
    return `refunded by ${decisions.map(({ who }) => who).join(" and ")}`;
  });
  return { app, store, ran };
}

/** Starts a task and waits until it waits. */
export async function waiting(
  { app }: Shop,
  at: ReturnType<typeof consoleAt>,
  tool: "order" | "pay" | "nap" | "refund",
  args: object = { item: "lamp" },
): Promise<string> {
  const caller = { authInfo: { token: "t", clientId: "c", scopes: [] } };
  const id = await begun((request: Request) => app.handle(request, caller), tool, args);
  await vi.waitFor(async () => {
    const { body } = await at.get(`api/tasks/${id}`, admin);
    expect(body).toMatchObject({ task: { waits: [{}] } });
    expect(body).not.toHaveProperty("task.worker");
  }, patience);
  return id;
}
