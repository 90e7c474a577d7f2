// A replica that breaks the story of the demo. BROKEN says how.

import { join } from "node:path";
import process from "node:process";
import { fromJsonSchema } from "@modelcontextprotocol/server";
import { parley } from "mcp-parley";
import { sqliteStore } from "mcp-parley/sqlite";
import { pretendCloud } from "../../src/cli/demo/cloud.ts";
import { sharedFiles } from "../../src/cli/demo/replicas.ts";
import { vmProvision } from "../../src/cli/demo/tool.ts";

const { BROKEN } = process.env;
const [folder = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(1));
if (BROKEN === "interrupted") process.kill(process.pid, "SIGINT");

const { tasksFile, cloudFile, leaseMs } = sharedFiles(folder);
const cloud = pretendCloud({
  file: cloudFile,
  onRequest: (what) => void process.send?.({ kind: "does", what }),
  isForgetful: BROKEN === "cloud forgets keys",
});
const isApart = BROKEN === "each its own store";
const file = isApart ? join(folder, `${process.pid}.db`) : tasksFile;
const store = sqliteStore(file, { leaseMs });

/** The same questions and effects, but nothing is recorded. */
function careless() {
  const app = parley({ name: "vm-provision", version: "1.0.0", store });
  const inputSchema = fromJsonSchema<{ name: string; size: string }>({ type: "object" });
  app.tool("provision_vm", { inputSchema, task: "optional" }, async ({ name, size }, ctx) => {
    await ctx.confirm("buy", `For $${cloud.price(size)}?`);
    await ctx.background();
    const vm = await ctx.step("create", ({ idempotencyKey }) =>
      cloud.create(name, size, idempotencyKey),
    );
    const network = await ctx.choose("network", "Which?", ["public", "private"]);
    await ctx.step("configure", ({ idempotencyKey }) =>
      cloud.configure(vm, network, idempotencyKey),
    );
    return "done";
  });
  return app;
}

const app = BROKEN === "no step" ? careless() : vmProvision(cloud, store).app;
const { url } = await app.listen(0);
process.send?.({ kind: "listens", url });
