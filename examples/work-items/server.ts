// One replica. It prints its address, and then what it writes to the tracker.

import process from "node:process";
import { workItems } from "./tool.ts";

const { app } = workItems({
  update: (id, fields, key) => console.log("wrote", "update", id, JSON.stringify(fields), key),
  link: (id, duplicateOf, key) => console.log("wrote", "link", id, duplicateOf, key),
});
const { url } = await app.listen(0);
console.log("url", url);
process.on("SIGTERM", () => void app.close().then(() => process.exit(0)));
