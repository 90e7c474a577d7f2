// A version of the app words an approval otherwise while the group decides. Nobody decides on what they have not seen.

import { parley } from "mcp-parley";
import type { App, AuditRecord, Store } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { callTool, envelope, exchange } from "../wire/post.ts";
import { auth, principal } from "./named-tokens.ts";

const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const asAda = { headers: { authorization: "Bearer ada" } };

interface Version {
  readonly app: App;
  readonly tickets: Map<string, string>;
  readonly records: AuditRecord[];
}

/** A version of the app that asks for this amount. Its handler runs again when a price is delivered. */
function version(store: Store, amount: string): Version {
  const tickets = new Map<string, string>();
  const records: AuditRecord[] = [];
  const audit = (record: AuditRecord) => records.push(record);
  const settings = { name: "desk", version: "1.0.0", keys, logger: quiet, audit };
  const app = parley({ ...settings, store, auth, principal });
  onTestFinished(() => app.close());
  app.tool("pay", { task: "required" }, async (ctx) => {
    const notify = ({ ticket }: { ticket: string }) => tickets.set("pay", ticket);
    const [{ decisions }] = await Promise.all([
      ctx.approve("pay", `Pay ${amount}?`, { by: "managers", about: { Amount: amount }, notify }),
      ctx.waitFor("price", z.object({ price: z.int() }), {
        notify: ({ ticket }) => tickets.set("price", ticket),
      }),
    ]);
    return `${amount} approved by ${decisions.map(({ who }) => who).join()}`;
  });
  return { app, tickets, records };
}

test("the ticket of an approval is for the wording that the group was told", async () => {
  const store = new MemoryStore();
  const first = version(store, "$5");
  const worker = await first.app.work();
  const { result } = await callTool(first.app, "pay", {}, { capabilities, ...asAda });
  await vi.waitFor(() => expect(first.tickets.size).toBe(2), patience);
  await worker.close();

  const second = version(store, "$5,000");
  await second.app.work();
  await second.app.deliver(first.tickets.get("price") ?? "", { price: 1 });
  const old = first.tickets.get("pay") ?? "";
  const { callId } = second.app.readTicket(old);
  await vi.waitFor(async () => {
    const waits = (await store.readByCall(callId))?.waits ?? [];
    expect(waits.map(({ wire }) => wire)).toEqual(["pay~2"]);
  }, patience);
  const bo = { who: "bo", groups: ["managers"], approve: true };
  const changed = await second.app.decide(old, bo);
  expect(changed).toEqual({
    status: "changed",
    decisions: [],
    asked: { message: "Pay $5,000?", about: { Amount: "$5,000" }, ticket: expect.any(String) },
  });
  // What bo wanted to approve is in the record as bo saw it.
  expect(second.records.at(-1)).toMatchObject({
    action: "too_late",
    who: "bo",
    message: "Pay $5?",
    note: "would have approved",
  });
  expect(await second.app.decide(changed.asked?.ticket ?? "", bo)).toMatchObject({
    status: "approved",
  });
  const read = envelope("tasks/get", { taskId: String(result?.["taskId"]) }, { capabilities });
  await vi.waitFor(async () => {
    const task = (await exchange(second.app, read, asAda)).result;
    const content = [{ text: "$5,000 approved by bo" }];
    expect(task).toMatchObject({ status: "completed", result: { content } });
  }, patience);
});
