// Our port of mcpkit's tutorial, which its client does section by section.

import { memoryStore, parley } from "mcp-parley";
import type { App } from "mcp-parley";
import {
  capital,
  composition,
  confirm,
  gather,
  greet,
  multiRound,
  searchRoots,
  summarize,
} from "../../../examples/seeds/mcpkit.ts";
import { keys } from "../errands.ts";
import { ourServer } from "./our-side.ts";
import { isLenient } from "./transcript.ts";

const tools = [greet, confirm, gather, capital, searchRoots, summarize, multiRound, composition];

/** Whether an errand is of the tutorial of mcpkit. */
export const isOfTutorial = (capability: string) => capability.startsWith("tutorial-");

function tutorialServer(): App {
  const app = parley({ name: "tutorial", version: "1.0.0", keys, store: memoryStore() });
  for (const add of tools) add(app);
  return app;
}

/** The server for a run. */
export function serverFor(capability: string): App {
  return isOfTutorial(capability)
    ? tutorialServer()
    : ourServer({ lenientTaskRouting: isLenient(capability) });
}
