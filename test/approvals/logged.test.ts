// The log says of each decision to which task it belongs, who decided, and what became of it.

import { parley } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { callTool } from "../wire/post.ts";
import { taskIdIn } from "../wire/task-calls.ts";
import { auth, principal } from "./named-tokens.ts";

const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const asAda = { headers: { authorization: "Bearer ada" } };

test("a decision is logged with its task and with who decided", async () => {
  const info = vi.fn<(message: string, fields?: object) => void>();
  const logger = { ...quiet, info };
  const store = new MemoryStore();
  const app = parley({ name: "desk", version: "1.0.0", keys, logger, store, auth, principal });
  onTestFinished(() => app.close());
  let ticket = "";
  app.tool("pay", { task: "required" }, async (ctx) => {
    await ctx.approve("pay", "Pay?", {
      by: "managers",
      notify: (asked) => (ticket = asked.ticket),
    });
    return "paid";
  });
  await app.work();
  const task = taskIdIn(await callTool(app, "pay", {}, { capabilities, ...asAda }));
  const decision = { groups: ["managers"], approve: true };
  await vi.waitFor(async () => {
    expect((await app.decide(ticket, { who: "bo", ...decision })).status).toBe("approved");
  }, patience);
  await app.decide(ticket, { who: "cy", ...decision });
  const call = app.readTicket(ticket).callId;
  const about = { call, task: `${task.slice(0, 6)}…`, key: "pay" };
  expect(info.mock.calls.filter(([message]) => message.startsWith("A decision"))).toEqual([
    [`A decision on "pay" by bo: approved`, { ...about, who: "bo", outcome: "approved" }],
    [
      expect.stringMatching(/^A decision on "pay" by cy: (already_decided|gone)$/),
      { ...about, who: "cy", outcome: expect.any(String) },
    ],
  ]);
});
