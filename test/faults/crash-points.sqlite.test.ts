import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteStore } from "../../src/tasks/stores/sqlite/sqlite-store.ts";
import { describeCrashPoints } from "./crash-points.fixture.ts";

describeCrashPoints("SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-faults-"));
  const store = new SqliteStore({ path: join(folder, "parley.db") });
  return {
    store,
    close: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});
