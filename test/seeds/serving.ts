// Serves an app with some of the documents' tools until the test ends.

import { parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { onTestFinished } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { connect } from "../../src/client/index.ts";
import type { Connection, ConnectOptions } from "../../src/client/index.ts";
import { keys } from "../interop/errands.ts";
import { keepingLogger } from "../wire/till.ts";
import type { LogLine } from "../wire/till.ts";

export type Register = (app: App) => unknown;

/** The app also runs its tasks in this process. */
export async function serving(...tools: Register[]): Promise<App> {
  return (await servingWith({}, ...tools)).app;
}

export async function servingWith(
  options: Partial<ParleyOptions>,
  ...tools: Register[]
): Promise<{ readonly app: App; readonly logged: readonly LogLine[] }> {
  const { logger, logged } = keepingLogger();
  const store = new MemoryStore();
  const own = { name: "seeds", version: "1.0.0", keys, logger, store };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `auth` and `principal` come together or not at all
  const app = parley({ ...own, ...options } as ParleyOptions);
  for (const tool of tools) tool(app);
  await app.work();
  onTestFinished(() => app.close());
  return { app, logged };
}

export async function connected(
  to: Parameters<typeof connect>[0],
  options: ConnectOptions = {},
): Promise<Connection> {
  const connection = await connect(to, options);
  onTestFinished(() => connection.close());
  return connection;
}
