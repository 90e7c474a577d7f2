// What clients do with the bakery of `vercel` and `lambda` in their tests. Each request meets another instance.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { withTasks } from "mcp-parley/client";
import { expect, onTestFinished, vi } from "vitest";
import { TaskClient } from "./task-client.ts";
import type { Task } from "./task-client.ts";

/** Every look starts instances, and each takes a while on a busy machine. */
const patience = { timeout: 240_000 };

/** What people say in the tests, by the name of the field. */
const said: Readonly<Record<string, string | number>> = {
  kind: "rye",
  loaves: 3,
  text: "Happy birthday",
};
const answersTo = (schema: { readonly properties: object }) =>
  Object.fromEntries(Object.keys(schema.properties).map((name) => [name, said[name] ?? ""]));

export const taskClient = (url: string): TaskClient =>
  new TaskClient({
    url,
    answer: async (form) => ({ action: "accept", content: answersTo(form.requestedSchema) }),
  });

/** The official client, which answers questions and follows tasks. */
export async function officialClient(url: string): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => ({
    action: "accept",
    content: "requestedSchema" in params ? answersTo(params.requestedSchema) : {},
  }));
  await client.connect(withTasks(new StreamableHTTPClientTransport(new URL(url))));
  onTestFinished(() => client.close());
  return client;
}

export async function textOf(call: ReturnType<Client["callTool"]>): Promise<string> {
  const { content } = await call;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** Runs what is due until the task has that status. */
export async function untilStatus(
  client: TaskClient,
  taskId: string,
  status: Task["status"],
  runDue: () => Promise<unknown> = async () => {},
): Promise<Task> {
  return vi.waitFor(async () => {
    await runDue();
    const task = await client.task(taskId);
    expect(task.status).toBe(status);
    return task;
  }, patience);
}

/** Runs what is due until the call has ended. */
export async function untilEnd<T>(call: Promise<T>, runDue: () => Promise<unknown>): Promise<T> {
  let hasEnded = false;
  const ended = call.finally(() => {
    hasEnded = true;
  });
  await vi.waitFor(async () => {
    await runDue();
    expect(hasEnded).toBe(true);
  }, patience);
  return ended;
}

/** The cake that a task asks about, which is only in the record of a step. */
export function cakeIn({ inputRequests = {} }: Task): string {
  const [question] = Object.values(inputRequests);
  return question?.params.message.split(" ", 1)[0] ?? "";
}
