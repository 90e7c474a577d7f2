// The functions that AWS Lambda calls.

import { app } from "./app.ts";
import { inTime, requestOf, resultOf } from "./http.ts";
import type { Context, HttpEvent, HttpResult } from "./http.ts";

/** Serves MCP. Nothing runs in this instance after its response, so tasks wait for the worker. */
export async function http(event: HttpEvent, context: Context): Promise<HttpResult> {
  if (!event.rawPath.endsWith("/mcp")) return resultOf(new Response("Not found", { status: 404 }));
  // A subscription stays open, and this response is sent when it ends. Without one, clients poll.
  const isSubscription = event.headers["mcp-method"] === "subscriptions/listen";
  if (isSubscription) return resultOf(new Response("Not supported", { status: 501 }));
  return inTime(context, async (signal) => resultOf(await app.fetch(requestOf(event, signal))));
}

/** Runs the tasks that are due. A schedule calls it every minute. */
export async function worker(_event: unknown, context: Context): Promise<void> {
  const { ran, nextDueAt } = await app.runDue({
    budgetMs: context.getRemainingTimeInMillis() - 1_000,
  });
  console.log(`tasks run: ${ran}, next due ${nextDueAt?.toISOString() ?? "when one arrives"}`);
}
