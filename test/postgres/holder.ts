// Starts a server and stays: for a test that kills it.

import { startPostgres } from "./start.ts";

const { folder, pid } = await startPostgres();
process.stdout.write(`${JSON.stringify({ folder, pid })}\n`);
// Nobody ends this one but a signal; should the test itself be killed, its pipe ends.
process.stdin.on("end", () => process.exit()).resume();
