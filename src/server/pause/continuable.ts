// What the tools that continue paused calls have to do with the app: whether it has them, and what they need of it.

import type { Core } from "../core.ts";
import type { RegisteredTool, Registry } from "../define/registry.ts";
import type { PrincipalOf } from "../round/principal.ts";

/** The app whose calls are continued. */
export interface Continuable {
  readonly core: Core;
  readonly registry: Registry;
  readonly derivePrincipal: PrincipalOf | undefined;
}

/** Adds the tools that continue paused calls. */
export interface CallTools {
  /** Adds `continue_call`, once. */
  readonly addContinueCall: (app: Continuable) => void;
  /** Adds a tool of the author's, and with the first one that has an App what the App needs. */
  readonly addTool: (app: Continuable, tool: RegisteredTool) => void;
}

/** The tool with which a model continues a call. */
export const continueCall = "continue_call";

/** Whether calls can pause, so that there are handles. */
export const continues = (registry: Registry): boolean => registry.tool(continueCall) !== undefined;
