// Starts a server and keeps running, for a test that kills this process.

import { startPostgres } from "./start.ts";

const { folder, pid } = await startPostgres();
process.stdout.write(`${JSON.stringify({ folder, pid })}\n`);
// Only a signal ends this process, or the end of its pipe if the test itself is killed.
process.stdin.on("end", () => process.exit()).resume();
