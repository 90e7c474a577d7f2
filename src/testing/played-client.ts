// The client that a test plays: what it can be asked, and whether it can follow tasks.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { appsExtension, appType } from "../protocol/paused-call.ts";
import { streamingExtension } from "../protocol/streaming.ts";
import { tasksExtension } from "../protocol/task.ts";
import { isExtensionId } from "../protocol/capabilities.ts";
import type { ExtensionId } from "../protocol/capabilities.ts";
import type { Era } from "../protocol/versions.ts";
import type { RequiredAbility } from "../server/define/abilities.ts";
import type { Definition } from "../server/define/definition.ts";

/** A client that can do only what it lists. */
export interface PlayClient {
  /** What the client can be asked, "task" if it can follow tasks, and the ids of its extensions, in the words of `ctx.can`. */
  readonly can: readonly (RequiredAbility | ExtensionId)[];
  /** The protocol version that `ctx.era` shows. Default: "2026-07-28". */
  readonly era?: Era | undefined;
}

/** The clients that have a name. */
export type PlayClientName = "modern" | "task" | "chat" | "app";

/** The names that `as` still takes. */
type OlderName = "modern" | "task" | "no-elicitation" | "no-sampling";

const named: Readonly<
  Record<PlayClientName | OlderName, readonly (RequiredAbility | ExtensionId)[]>
> = {
  modern: ["form", "url", "sampling", "roots", "stream"],
  task: ["form", "url", "sampling", "roots", "task", "stream"],
  chat: [],
  app: [appsExtension],
  "no-elicitation": ["sampling", "roots"],
  "no-sampling": ["form", "url", "roots"],
};

const showsApps = { mimeTypes: [appType] };

/** What the client of a test declares. By default, a tool that can become a task is called by a client that follows it. */
export function capabilitiesOf(
  client: PlayClientName | OlderName | PlayClient | undefined,
  { task }: Definition,
): ClientCapabilities {
  const chosen = client ?? (task === undefined ? "modern" : "task");
  // A test that is not type-checked can pass anything.
  const can: readonly (RequiredAbility | ExtensionId)[] | undefined =
    typeof chosen === "object" ? chosen.can : named[chosen];
  if (can === undefined) {
    throw new Error(
      `play: client: ${JSON.stringify(chosen)} is not known. Use "modern", "task", "chat", "app" or { can: [ … ] }.`,
    );
  }
  const elicitation = {
    ...(can.includes("form") && { form: {} }),
    ...(can.includes("url") && { url: {} }),
  };
  const ids = [
    ...(can.includes("task") ? [tasksExtension] : []),
    ...(can.includes("stream") ? [streamingExtension] : []),
    ...can,
  ];
  const extensions = Object.fromEntries(
    ids.filter(isExtensionId).map((id) => [id, id === appsExtension ? showsApps : {}]),
  );
  return {
    ...(Object.keys(elicitation).length > 0 && { elicitation }),
    ...(can.includes("sampling") && { sampling: { tools: {}, context: {} } }),
    ...(can.includes("roots") && { roots: {} }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}
