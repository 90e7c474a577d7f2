import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { describeCrashPoints } from "./crash-points.fixture.ts";

describeCrashPoints("memory", async () => {
  const store = new MemoryStore();
  return { store, close: store.close };
});
