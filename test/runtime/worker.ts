// The smoke app as a Worker. It is made while the module loads, as people write it.

import { memoryStore } from "mcp-parley";
import { smokeApp } from "./smoke-app.ts";

const app = smokeApp({ store: memoryStore() });

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default { fetch: app.fetch };
