// Serves one client over standard input and output, through the SDK's entry for it.

import type { Implementation, McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { DraftDialect, DraftTasks } from "../../protocol/draft-plug-in.ts";
import type { Core } from "../core.ts";
import { TaskListeningTransport } from "./task-subscriptions/over-stdio.ts";

/** What serving over stdio needs from its app. */
export interface StdioServing {
  readonly core: Core;
  readonly dialect: DraftDialect | undefined;
  readonly draftTasks: DraftTasks;
  readonly serverInfo: Implementation;
  readonly newServer: (isDraft: boolean | undefined) => McpServer;
}

/** Begins to serve. */
export function serveOverStdio(serving: StdioServing): ReturnType<typeof serveStdio> {
  const { core, dialect, draftTasks, serverInfo, newServer } = serving;
  const input = new StdioServerTransport();
  const draft = dialect?.wrapTransport(input, draftTasks);
  return serveStdio(() => newServer(draft?.isDraft), {
    transport: new TaskListeningTransport(draft ?? input, core, serverInfo),
    onerror: ({ message }) => core.logger.debug(message),
  });
}
