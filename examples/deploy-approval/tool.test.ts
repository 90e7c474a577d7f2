// The handler without HTTP: the script delivers what the page would.

import { parley } from "mcp-parley";
import { crashTest, play } from "mcp-parley/testing";
import { beforeEach, expect, test } from "vitest";
import { deployTool } from "./tool.ts";

const done: string[] = [];
const app = parley({ name: "deploy-approval", version: "1.0.0" });
const deploy = deployTool(app, {
  announce: ({ requester, what }) => void done.push(`announce ${requester} ${what}`),
  deploy: ({ what }, by, idempotencyKey) => {
    done.push(`deploy ${what} for ${by} ${idempotencyKey !== ""}`);
  },
  giveUp: ({ what }) => void done.push(`give up ${what}`),
});
const shop = { service: "shop", version: "1.4.2" };
const yes = { approval: { isApproved: true, by: "bob" } };

beforeEach(() => {
  done.length = 0;
});

test("an approved deployment runs", async () => {
  const call = await play(deploy, shop, yes, { principal: "ada" });
  expect(call.text).toBe("shop 1.4.2 is deployed. bob approved it.");
  expect(done).toEqual(["announce ada shop 1.4.2", "deploy shop 1.4.2 for bob true"]);
  // The caller is not asked anything.
  expect(call.task?.statuses).toEqual(["working", "completed"]);
});

test("a refused deployment does not run", async () => {
  const call = await play(deploy, shop, { approval: { isApproved: false, by: "bob" } });
  expect(call.text).toBe("shop 1.4.2 was not deployed: bob said no.");
  expect(call.ran("deploy")).toBe(0);
});

test("whatever is lost on the way, a deployment is repeated only under its own idempotency key", async () => {
  const { repeats } = await crashTest(deploy, shop, yes);
  expect(repeats.every(({ usesKey }) => usesKey)).toBe(true);
  expect(repeats.map(({ step }) => step)).toContain("deploy");
});
