// A worker is lost while it tells the group. The group decides before another worker continues the task.

import { parley } from "mcp-parley";
import type { App, Store } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { callTool, envelope, exchange } from "../wire/post.ts";
import { losable } from "./losable.ts";
import { auth, principal } from "./named-tokens.ts";

const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const asAda = { headers: { authorization: "Bearer ada" } };

/** A replica whose group is told by `tell`. */
function replica(store: Store, tell: (ticket: string) => unknown): App {
  const settings = { name: "desk", version: "1.0.0", keys, logger: quiet };
  const app = parley({ ...settings, store, auth, principal });
  app.tool("pay", { task: "required" }, async (ctx) => {
    const { decisions } = await ctx.approve("pay", "Pay?", {
      by: "managers",
      notify: ({ ticket }) => tell(ticket),
    });
    return `approved by ${decisions.map(({ who }) => who).join()}`;
  });
  return app;
}

test("if the group has decided by then, the next worker ends the call and tells nobody again", async () => {
  const store = new MemoryStore({ leaseMs: 500 });
  const { store: lost, loseAfter, isLost } = losable(store);
  const tickets: string[] = [];
  let letGo = () => {};
  const holding = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const first = replica(lost, (ticket) => {
    tickets.push(ticket);
    return holding;
  });
  await first.work();
  const { result } = await callTool(first, "pay", {}, { capabilities, ...asAda });
  await vi.waitFor(() => expect(tickets).toHaveLength(1), patience);
  loseAfter(0);
  letGo();
  await vi.waitFor(() => expect(isLost()).toBe(true), patience);

  const other = replica(store, (ticket) => tickets.push(ticket));
  onTestFinished(() => other.close());
  const decision = { who: "bo", groups: ["managers"], approve: true };
  expect(await other.decide(tickets[0]!, decision)).toMatchObject({ status: "approved" });
  await other.work();
  const read = envelope("tasks/get", { taskId: String(result?.["taskId"]) }, { capabilities });
  await vi.waitFor(async () => {
    const task = (await exchange(other, read, asAda)).result;
    const content = [{ text: "approved by bo" }];
    expect(task).toMatchObject({ status: "completed", result: { content } });
  }, patience);
  expect(tickets).toHaveLength(1);
});
