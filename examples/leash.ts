// Loaded into every process that an example starts. It ends the process when its parent ends, even by `kill -9`, because
// the parent holds the other end of its standard input.

import process from "node:process";

process.stdin.resume().on("end", () => process.exit(1));
