// Loaded into every process an example starts: it ends when the one that holds the other end of its standard
// input does, also by `kill -9`.

import process from "node:process";

process.stdin.resume().on("end", () => process.exit(1));
