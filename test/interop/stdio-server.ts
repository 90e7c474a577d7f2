// The errands over standard input and output, for the tests that start a process.

import { errands, keys } from "./errands.ts";

await errands({ keys }).app.stdio();
