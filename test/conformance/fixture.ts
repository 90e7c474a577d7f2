// The server that the official conformance suite expects, written with Parley. The suite prescribes what its tools are
// called and what they do: `conformance list` names the scenarios, and each of them describes its tools.

import type { McpServer, ServerNotifier } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import type { App, Logger, Store } from "mcp-parley";
import { addProbes, addRounds, addSessionQuestions } from "./asking.ts";
import { addTasks } from "./tasks.ts";
import { addContents, addPrompts, addResources, addSchemas } from "./plain.ts";

export const identity = { name: "parley-conformance", version: "1.0.0" };

// Logs go through the console, which vitest shows only for tests that fail.
const logger: Logger = {
  debug: () => {},
  info: () => {},
  // oxlint-disable-next-line eslint/no-console
  warn: console.warn,
  // oxlint-disable-next-line eslint/no-console
  error: console.error,
};

/** `notify` comes from what serves it: the app itself, or the handler that it is attached to. */
export function conformanceApp(notify: (app: App) => ServerNotifier, store: Store): App {
  // This key is public on purpose, because nothing that this server seals is secret.
  const keys = `conformance:${Buffer.alloc(32, "parley").toString("base64url")}`;
  const app = parley({ ...identity, keys, logger, store });
  addContents(app);
  addSchemas(app);
  addPrompts(app);
  addResources(app);
  addRounds(app);
  addProbes(app);
  addSessionQuestions(app);
  addTasks(app);
  app.tool("test_trigger_tool_change", { description: "Says that the tools changed" }, () => {
    notify(app).toolsChanged();
    return "Told.";
  });
  app.tool("test_trigger_prompt_change", { description: "Says that the prompts changed" }, () => {
    notify(app).promptsChanged();
    return "Told.";
  });
  return app;
}

/** What Parley leaves to the official server: log levels, subscriptions of 2025-11-25, completion of prompts. */
export function configure({ server }: McpServer): void {
  server.registerCapabilities({ logging: {}, completions: {}, resources: { subscribe: true } });
  // Nothing here ever changes, so it is enough to accept the subscription.
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("completion/complete", ({ params }) => {
    const values = ["test-one", "test-two"].filter((one) => one.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}
