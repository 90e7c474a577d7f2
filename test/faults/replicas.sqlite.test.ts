import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeReplicas } from "./replicas.fixture.ts";

describeReplicas("sqlite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-faults-"));
  return { at: join(folder, "parley.db"), close: () => rm(folder, { recursive: true }) };
});
