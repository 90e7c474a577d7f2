import { startPostgres } from "../postgres/start.ts";
import { describeReplicas } from "./replicas.fixture.ts";

describeReplicas("postgres", async () => {
  const { url, stop } = await startPostgres();
  return { at: url, close: stop };
});
