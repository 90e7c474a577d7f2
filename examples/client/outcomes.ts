// The same call, with every outcome it can have as one type.

// #region outcomes
import process from "node:process";
import { connect, outcomes } from "mcp-parley/client";

const server = await connect("http://127.0.0.1:3000/mcp", { elicit: "events" });
const call = server.start("resolve_bug", { id: 4522 });
for await (const outcome of outcomes(call)) {
  switch (outcome.kind) {
    case "asks":
      for (const { key } of outcome.questions) {
        await call.answer(key, { action: "accept", content: { [key]: "Fixed" } });
      }
      break;
    case "partial":
      process.stdout.write(outcome.text);
      break;
    case "complete":
      console.log(outcome.result.text);
      break;
    case "failure":
      console.error("error" in outcome ? outcome.error.message : outcome.result.text);
  }
}
// #endregion
await server.close();
