// A tool that streams: its text appears while the tool makes it.

// #region stream
import process from "node:process";
import { connect } from "mcp-parley/client";

const server = await connect("http://127.0.0.1:3000/mcp");
const call = server.start("report", { topic: "Q2" });
for await (const event of call) {
  if (event.type !== "part") continue;
  if (event.op === "append") process.stdout.write(event.text);
  else process.stdout.write(`\n${event.soFar.text}`); // the server begins this block again
}
const { text } = await call.result();
// #endregion
console.log(`\n${text}`);
await server.close();
