import { PostgresStore } from "../../src/tasks/stores/postgres/postgres-store.ts";
import { freshDatabase } from "../postgres/database.ts";
import { describeCrashPoints } from "./crash-points.fixture.ts";

describeCrashPoints("Postgres", async () => {
  const postgres = await freshDatabase();
  const store = new PostgresStore(postgres.url);
  return {
    store,
    close: async () => {
      await store.close();
      await postgres.stop();
    },
  };
});
