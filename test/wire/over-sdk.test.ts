// The tests of the wire once more, over the SDK's entry: what holds over one holds over the other.

import { entry } from "../entry.ts";

entry.fast = false;

// Their tests become tests of this file, in which every server is made so.
await import("./answers.test.ts");
await import("./auth.test.ts");
await import("./envelope.test.ts");
await import("./legacy-tasks.test.ts");
await import("./legacy.test.ts");
await import("./mishaps.test.ts");
await import("./notifications.test.ts");
await import("./pages.test.ts");
await import("./rounds.test.ts");
await import("./task-input.test.ts");
await import("./task-listen.test.ts");
await import("./task-phases.test.ts");
await import("./task-principals.test.ts");
await import("./tasks.test.ts");
await import("./token.test.ts");
await import("../hosts/listen.test.ts");
