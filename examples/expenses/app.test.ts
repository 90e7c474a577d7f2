// The whole app: ada's agent asks over HTTP, and people decide on the page whose address the chat got.

import { memoryStore } from "mcp-parley";
import { expect, test, vi } from "vitest";
import { TaskClient } from "../task-client.ts";
import { expenses } from "./tool.ts";

/** The machine may be busy. */
const patience = { timeout: 30_000 };

test("two managers decide on the page, and ada and strangers cannot", async () => {
  vi.stubEnv("PARLEY_KEYS", `test:${"A".repeat(43)}`);
  const sent: string[] = [];
  const paid: string[] = [];
  const { app } = expenses({
    store: memoryStore(),
    chat: { send: async (text) => void sent.push(text) },
    bank: { pay: async (amount, to) => `${paid.push(`${amount} to ${to}`)}` },
  });
  try {
    const { url } = await app.listen(0);
    const agent = new TaskClient({ url, headers: { authorization: "Bearer ada" } });
    const { taskId = "" } = await agent.start("pay", { amount: 500, to: "ACME" });
    await expect.poll(() => sent.length, patience).toBe(1);
    const page = /https:\S+/.exec(sent[0] ?? "")?.[0] ?? "";
    const visit = (user: string, body?: URLSearchParams) =>
      app.pages(
        new Request(page, {
          headers: { cookie: `user=${user}`, origin: "https://expenses.example.com" },
          ...(body && { method: "POST", body }),
        }),
      );
    const approve = async (user: string) => {
      const html = await (await visit(user)).text();
      const digest = /name="digest" value="([^"]+)"/.exec(html)?.[1] ?? "";
      return (await visit(user, new URLSearchParams({ action: "accept", digest }))).status;
    };
    expect((await visit("nobody")).headers.get("location")).toContain("/sign-in");
    expect([await approve("ada"), await approve("di")]).toEqual([403, 403]);
    expect([await approve("bo"), await approve("cy")]).toEqual([303, 303]);
    await expect.poll(async () => (await agent.task(taskId)).status, patience).toBe("completed");
    expect((await agent.task(taskId)).result?.content?.[0]?.text).toBe(
      "Paid. Approved by bo and cy.",
    );
    expect(paid).toEqual(["500 to ACME"]);
  } finally {
    await app.close();
    vi.unstubAllEnvs();
  }
}, 60_000);
