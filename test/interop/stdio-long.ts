// The long errands over standard input and output, for the tests that start a process.

import { longErrands } from "./long-errands.ts";

await longErrands().stdio();
