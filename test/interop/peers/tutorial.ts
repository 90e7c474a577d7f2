// Our port of mcpkit's tutorial, which its client does section by section.

import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import {
  composition,
  greet,
  multiRound,
  searchRoots,
  summarize,
} from "../../../examples/seeds/mcpkit.ts";
import { keys } from "../errands.ts";
import { ourServer } from "./our-side.ts";
import { isLenient } from "./transcript.ts";

function tutorialServer(): App {
  const app = parley({ name: "tutorial", version: "1.0.0", keys, store: memoryStore() });
  for (const add of [greet, multiRound, searchRoots, summarize, composition]) add(app);
  return app;
}

/** The server for a run. */
export function serverFor(capability: string): App {
  return capability.startsWith("tutorial-")
    ? tutorialServer()
    : ourServer({ lenientTaskRouting: isLenient(capability) });
}
