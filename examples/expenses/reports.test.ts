import { parley } from "mcp-parley";
import { play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { addReports } from "./reports.ts";

test("a report is deleted only if the gate lets the call pass", async () => {
  const remove = addReports(parley({ name: "reports", version: "1.0.0" }));
  const passed = await play(remove, { name: "q3" }, { "~gate/deletions": true });
  expect(passed.text).toBe("Deleted q3.");
  const stopped = await play(remove, { name: "q3" }, { "~gate/deletions": false });
  expect(stopped.isError).toBe(true);
});
