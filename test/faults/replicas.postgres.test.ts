import { freshDatabase } from "../postgres/database.ts";
import { describeReplicas } from "./replicas.fixture.ts";

describeReplicas("postgres", async () => {
  const { url, stop } = await freshDatabase();
  return { at: url, close: stop };
});
