// Gathers the parts of an app that need a store. Everything that makes a store in a Worker imports this.

import { decide } from "./approvals/decide.ts";
import { deliver } from "./pages/tickets.ts";
import { addContinueCall, addTool } from "./pause/call-tools.ts";
import { pauseRound, pauseTask } from "./pause/pause.ts";
import { runOnce } from "./round/repeated-round.ts";
import { installTasks } from "./sdk/task-methods.ts";
import type { StoreParts } from "./store-parts.ts";
import { Work } from "./tasks/task-engine.ts";

export const withStore: StoreParts = {
  Work,
  addContinueCall,
  addTool,
  decide,
  deliver,
  installTasks,
  loadPages: () => import("./pages/pages.ts"),
  pauseRound,
  pauseTask,
  runOnce,
};
