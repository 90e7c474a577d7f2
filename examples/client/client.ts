// Calls the server of examples/hello-ask. First it finishes the calls that an earlier run of this program left behind.

// #region client
import { connect } from "mcp-parley/client";

const server = await connect("http://127.0.0.1:3000/mcp", {
  elicit: ({ message }) => {
    console.log(message);
    return { action: "accept", content: { how: "Fixed" } };
  },
  journal: ".calls",
});
for (const { ref } of await server.unfinished()) {
  await server.resume(ref).result().catch(console.error);
}
const { text } = await server.call("resolve_bug", { id: 4522 });
// #endregion
console.log(text);
await server.close();
