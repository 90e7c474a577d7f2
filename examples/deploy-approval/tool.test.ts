// The handler without HTTP: the script decides as the managers would.

import { memoryStore } from "mcp-parley";
import { approvedBy, crashTest, play, rejectedBy, timedOut } from "mcp-parley/testing";
import { beforeEach, expect, test } from "vitest";
import { makeSite } from "./site.ts";

const done: string[] = [];
const { tool: deploy } = makeSite({
  store: memoryStore(),
  url: "https://deploy.example.com",
  mail: (subject) => void done.push(`mail: ${subject}`),
  deploy: (what) => void done.push(`deploy ${what}`),
});
const shop = { service: "shop", version: "1.4.2" };
const yes = { approval: approvedBy("bob", "carol") };
const asAda = { principal: "ada" };

beforeEach(() => {
  done.length = 0;
});

test("an approved deployment runs", async () => {
  const call = await play(deploy, shop, yes, asAda);
  expect(call.text).toBe("shop 1.4.2 is deployed. Approved by bob and carol.");
  expect(done).toEqual(["mail: ada wants to deploy shop 1.4.2", "deploy shop 1.4.2"]);
  // The caller is not asked anything.
  expect(call.task?.statuses).toEqual(["working", "completed"]);
});

test("a declined deployment does not run", async () => {
  const call = await play(deploy, shop, { approval: rejectedBy("bob", "it is Friday") }, asAda);
  expect(call.text).toBe("shop 1.4.2 was not deployed. bob declined: it is Friday");
  expect(call.ran("deploy")).toBe(0);
});

test("nor does one that nobody decides on", async () => {
  const call = await play(deploy, shop, { approval: timedOut }, asAda);
  expect(call.text).toContain("too few managers decided within a day");
  expect(call.ran("deploy")).toBe(0);
});

test("whatever is lost on the way, a deployment is repeated only under its own idempotency key", async () => {
  const { repeats } = await crashTest(deploy, shop, yes, asAda);
  expect(repeats.every(({ usesKey }) => usesKey)).toBe(true);
  expect(repeats.map(({ step }) => step)).toContain("deploy");
});
