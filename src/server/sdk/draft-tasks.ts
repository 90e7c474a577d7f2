// What the plug-in for a draft of the protocol needs to know about tasks.

import type { DraftTasks } from "../../protocol/draft-plug-in.ts";
import type { Core } from "../core.ts";
import type { Registry } from "../define/registry.ts";

/** The tasks of an app for the plug-in. `closing` gives the signal that ends requests which wait for a task. */
export const draftTasksOf = (
  core: Core,
  registry: Registry,
  closing: () => AbortSignal,
): DraftTasks => ({
  support: (tool) => registry.tool(tool)?.definition.task,
  changes: (id, signal) => core.tasks?.watch(id, 0, AbortSignal.any([signal, closing()])) ?? [],
});
