// Outlives the run by a moment. When its standard input ends, for any reason, it kills the replicas that are left, even
// stopped ones, and removes the folder. A stopped process cannot see that its parent is gone.
//
// Reads lines: "+<pid>" for a replica that has been started, "-<pid>" for one that has ended.

import { rmSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

const folder = process.argv[2] ?? "";
const replicas = new Set();

// Ctrl-C goes to the whole process group. The keeper waits for the end of the run instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const pid = Number(line.slice(1));
  if (line.startsWith("+")) replicas.add(pid);
  else replicas.delete(pid);
});
lines.on("close", () => {
  for (const pid of replicas) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has already ended.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});
