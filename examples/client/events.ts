// The same call for a user interface, which shows the questions and gets the answers later.

// #region events
import { connect } from "mcp-parley/client";

const server = await connect("http://127.0.0.1:3000/mcp", { elicit: "events", journal: ".calls" });
const call = server.start("resolve_bug", { id: 4522 });
for await (const event of call) {
  // Another process can continue the call with event.ref alone: server.resume(ref)
  if (event.type !== "asked") continue;
  for (const { key } of event.questions) {
    await call.answer(key, { action: "accept", content: { [key]: "Fixed" } });
  }
}
const { text } = await call.result();
// #endregion
console.log(text);
await server.close();
