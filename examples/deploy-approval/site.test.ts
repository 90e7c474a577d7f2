// An agent asks and people decide through a link, over real HTTP. The test moves the clock to let hours pass.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "mcp-parley";
import type { Logger } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { TaskClient } from "../task-client.ts";
import { startSite } from "./site.ts";
import { Trail } from "./trail.ts";

// Set before anything else is loaded, so that every part uses this clock. Timers stay real.
vi.hoisted(() => vi.useFakeTimers({ toFake: ["Date"] }));

const hourMs = 3_600_000;
/** How long to poll. The machine may be busy. */
const patience = { timeout: 30_000 };
const later = (ms: number) => vi.setSystemTime(Date.now() + ms);
const keys = `test:${"A".repeat(43)}`;
const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A site, and what it did: mails, deployments, the trail. */
async function opened(deploying: Promise<void> = Promise.resolve()) {
  const folder = mkdtempSync(join(tmpdir(), "deploy-approval-"));
  const trail = new Trail(join(folder, "trail.jsonl"));
  const links: string[] = [];
  const deployed: string[] = [];
  const { url, app, close } = await startSite({
    port: 0,
    keys,
    store: memoryStore(),
    logger: silent,
    trail,
    mail: (_subject, link) => void links.push(link),
    deploy: async (what) => {
      deployed.push(what);
      await deploying;
    },
  });
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  /** This person's agent asks. Resolves when the mail has been sent. */
  async function ask(name: string, service = "shop") {
    const headers = { authorization: `Bearer ${name}` };
    const client = new TaskClient({ url: `${url}/mcp`, headers });
    const { taskId = "" } = await client.start("deploy", { service, version: "1.4.2" });
    await expect.poll(() => links.length, patience).toBe(1);
    // The clock may jump only once no worker holds the task, whose lease would be over at once.
    await expect.poll(async () => (await app.health()).tasks?.held, patience).toBe(0);
    const [link = ""] = links;
    const status = async () => (await client.task(taskId)).status;
    const text = async () => (await client.task(taskId)).result?.content?.[0]?.text;
    return { link, status, text };
  }
  return { ask, deployed, trail };
}

const as = (name: string) => ({ cookie: `person=${name}` });

async function visit(link: string, name: string) {
  const response = await fetch(link, { headers: as(name) });
  return { status: response.status, html: await response.text() };
}

async function press(link: string, name: string, decision: "approve" | "refuse") {
  const ticket = new URL(link).searchParams.get("ticket") ?? "";
  const body = new URLSearchParams({ ticket, decision });
  const page = new URL("/approve", link);
  const response = await fetch(page, { method: "POST", headers: as(name), body });
  return { status: response.status, html: await response.text() };
}

/** The trail without what differs between runs. */
function told(trail: Trail) {
  const lines = trail.lines();
  const calls = new Set(lines.map(({ call }) => call).filter((call) => call !== "unknown"));
  expect(calls.size).toBe(1);
  for (const { at } of lines) expect(new Date(at).toISOString()).toBe(at);
  return lines.map(({ who, did, what, outcome }) => `${who} ${did} ${what}: ${outcome}`);
}

const thanks = "Thank you. Your decision is on its way.";

test("another person approves a deployment hours later, and the audit trail says who did what", async () => {
  const { ask, deployed, trail } = await opened();
  const { link, status, text } = await ask("ada");
  later(5 * hourMs);
  expect(await status()).toBe("working");
  expect((await visit(link, "bob")).html).toContain("ada wants to deploy <b>shop 1.4.2</b>");
  expect(await press(link, "bob", "approve")).toEqual({ status: 200, html: `<p>${thanks}</p>` });
  await expect.poll(text, patience).toBe("shop 1.4.2 is deployed. bob approved it.");
  expect(deployed).toEqual(["shop 1.4.2"]);
  expect(told(trail).toSorted()).toEqual([
    "ada ask shop 1.4.2: waiting",
    "ada deploy shop 1.4.2: done, approved by bob",
    "bob approve shop 1.4.2: delivered",
  ]);
  const [asked, decided] = trail.lines().map(({ at }) => Date.parse(at));
  expect(decided! - asked!).toBeGreaterThanOrEqual(5 * hourMs);
});

test("viewing the page decides nothing, and an unusual name is shown as text", async () => {
  const { ask, deployed, trail } = await opened();
  const { link, status } = await ask("ada", "<script>");
  expect((await visit(link, "bob")).html).toContain("<b>&lt;script> 1.4.2</b>");
  await visit(link, "bob");
  expect(await status()).toBe("working");
  expect(deployed).toEqual([]);
  expect(told(trail)).toEqual(["ada ask <script> 1.4.2: waiting"]);
});

test("a refused deployment does not run", async () => {
  const { ask, deployed, trail } = await opened();
  const { link, text } = await ask("ada");
  await press(link, "carol", "refuse");
  await expect.poll(text, patience).toBe("shop 1.4.2 was not deployed: carol said no.");
  expect(deployed).toEqual([]);
  expect(told(trail)).toEqual([
    "ada ask shop 1.4.2: waiting",
    "carol refuse shop 1.4.2: delivered",
  ]);
});

test("after a day without an answer the call ends politely, and the link no longer works", async () => {
  const { ask, deployed, trail } = await opened();
  const { link, text } = await ask("ada");
  later(25 * hourMs);
  await expect
    .poll(text, patience)
    .toBe("shop 1.4.2 was not deployed, because no answer came within a day. You can ask again.");
  const late = await press(link, "bob", "approve");
  expect(late).toEqual({ status: 410, html: "<p>This link is invalid or has expired.</p>" });
  expect(deployed).toEqual([]);
  expect(told(trail)).toEqual([
    "ada ask shop 1.4.2: waiting",
    "ada wait shop 1.4.2: no answer",
    "bob approve unknown: This link is invalid or has expired.",
  ]);
});

test("if the button is pressed twice, the first press counts; the second gets a message and is recorded", async () => {
  let finish = () => {};
  const deploying = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { ask, deployed, trail } = await opened(deploying);
  const { link, text } = await ask("ada");
  expect((await press(link, "bob", "approve")).status).toBe(200);
  await expect.poll(() => deployed, patience).toEqual(["shop 1.4.2"]);
  expect(await press(link, "carol", "refuse")).toEqual({
    status: 409,
    html: "<p>This has already been decided.</p>",
  });
  finish();
  await expect.poll(text, patience).toBe("shop 1.4.2 is deployed. bob approved it.");
  expect((await press(link, "bob", "approve")).html).toContain("This request is over");
  expect(deployed).toEqual(["shop 1.4.2"]);
  expect(told(trail)).toEqual([
    "ada ask shop 1.4.2: waiting",
    "bob approve shop 1.4.2: delivered",
    "carol refuse shop 1.4.2: already_answered",
    "ada deploy shop 1.4.2: done, approved by bob",
    "bob approve shop 1.4.2: gone",
  ]);
});

test("approving needs a sign-in, the role, and a person other than the requester", async () => {
  const { ask, deployed, trail } = await opened();
  const { link, text } = await ask("carol");
  for (const name of ["carol", "ada", "mallory"]) {
    const { status } = await visit(link, name);
    expect(status).toBe(name === "mallory" ? 401 : 403);
    expect((await press(link, name, "approve")).status).toBe(status);
  }
  expect(deployed).toEqual([]);
  await press(link, "bob", "approve");
  await expect.poll(text, patience).toBe("shop 1.4.2 is deployed. bob approved it.");
  expect(told(trail).slice(0, 4)).toEqual([
    "carol ask shop 1.4.2: waiting",
    "carol approve shop 1.4.2: You asked for this yourself, so another person has to decide.",
    "ada approve shop 1.4.2: You are not allowed to decide on this.",
    "anonymous approve unknown: Sign in first.",
  ]);
});

test("a ticket that was tampered with opens nothing", async () => {
  const { ask, deployed, trail } = await opened();
  const { link, status } = await ask("ada");
  const at = link.length - 20;
  const tampered = link.slice(0, at) + (link[at] === "A" ? "B" : "A") + link.slice(at + 1);
  expect((await visit(tampered, "bob")).status).toBe(410);
  expect((await press(tampered, "bob", "approve")).status).toBe(410);
  expect(await status()).toBe("working");
  expect(deployed).toEqual([]);
  expect(told(trail)[1]).toBe("bob approve unknown: This link is invalid or has expired.");
});
