// An agent asks and managers decide on the page, over real HTTP. The test moves the clock to let hours pass.

import { memoryStore } from "mcp-parley";
import type { AuditRecord, Logger } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { TaskClient } from "../task-client.ts";
import { makeSite } from "./site.ts";

// Set before anything else is loaded, so that every part uses this clock. Timers stay real.
vi.hoisted(() => vi.useFakeTimers({ toFake: ["Date"] }));

const hourMs = 3_600_000;
/** How long to poll. The machine may be busy. */
const patience = { timeout: 30_000 };
const later = (ms: number) => vi.setSystemTime(Date.now() + ms);
const keys = `test:${"A".repeat(43)}`;
const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A site, and what it did: mails, deployments, the audit. */
async function opened(deploying: Promise<void> = Promise.resolve()) {
  const links: string[] = [];
  const deployed: string[] = [];
  const records: AuditRecord[] = [];
  const { app } = makeSite({
    keys,
    store: memoryStore(),
    logger: silent,
    audit: (record) => records.push(record),
    mail: (_subject, link) => void links.push(link),
    deploy: async (what) => {
      deployed.push(what);
      await deploying;
    },
  });
  const { url } = await app.listen(0);
  onTestFinished(() => app.close());

  /** No worker holds the task, so the clock may jump: the lease of a worker would be over at once. */
  const rest = async () => {
    await expect.poll(async () => (await app.health()).tasks?.held, patience).toBe(0);
  };

  /** This person's agent asks. Resolves when the mail has been sent. */
  async function ask(name: string, service = "shop") {
    const client = new TaskClient({ url, headers: { authorization: `Bearer ${name}` } });
    const { taskId = "" } = await client.start("deploy", { service, version: "1.4.2" });
    await expect.poll(() => links.length, patience).toBe(1);
    await rest();
    const [link = ""] = links;
    const status = async () => (await client.task(taskId)).status;
    const text = async () => (await client.task(taskId)).result?.content?.[0]?.text;
    return { link, status, text };
  }

  /** Who decided what, in the words of the audit. */
  const told = () =>
    records
      .filter(({ action }) => ["approved", "rejected", "too_late"].includes(action))
      .map(({ who, action, via, note }) => [who, action, via, note ?? ""].join(" ").trim());
  return { ask, rest, deployed, records, told };
}

const as = (name: string) => ({ cookie: `person=${name}` });

async function visit(link: string, name: string) {
  const response = await fetch(link, { headers: as(name) });
  return { status: response.status, html: await response.text() };
}

/** Opens the page and presses one of its buttons, as a browser does. */
async function press(link: string, name: string, action: "accept" | "decline", note = "") {
  const { html } = await visit(link, name);
  const digest = /name="digest" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const { origin } = new URL(link);
  const response = await fetch(link, {
    method: "POST",
    headers: { ...as(name), origin },
    body: new URLSearchParams({ digest, action, note }),
  });
  return { status: response.status, html: await response.text() };
}

const done = "shop 1.4.2 is deployed. Approved by bob and dan.";

test("two of three managers approve a deployment hours later, and the audit says who did what", async () => {
  const { ask, rest, deployed, records, told } = await opened();
  const { link, status, text } = await ask("ada");
  later(5 * hourMs);
  const { html } = await visit(link, "bob");
  for (const shown of ["Deploy shop 1.4.2?", "Asked by", "ada", "0 of 2 people"]) {
    expect(html).toContain(shown);
  }
  expect((await press(link, "bob", "accept", "go ahead")).html).toContain("1 of 2 people");
  await rest();
  later(5 * hourMs);
  expect([await status(), deployed]).toEqual(["working", []]);
  expect((await visit(link, "dan")).html).toContain("<bdi>bob</bdi> approved this on");
  expect((await press(link, "dan", "accept")).html).toContain("Approved");
  await expect.poll(text, patience).toBe(done);
  expect(deployed).toEqual(["shop 1.4.2"]);
  expect(told()).toEqual(["bob approved link go ahead", "dan approved link"]);
  for (const { message, principal } of records) {
    if (message !== undefined) expect([message, principal]).toEqual(["Deploy shop 1.4.2?", "ada"]);
  }
  const asked = records.find(({ action }) => action === "asked")!;
  const [first] = records.filter(({ action }) => action === "approved");
  expect(first!.at.getTime() - asked.at.getTime()).toBeGreaterThanOrEqual(5 * hourMs);
});

test("viewing the page decides nothing, and an unusual name is shown as text", async () => {
  const { ask, deployed, told } = await opened();
  const { link, status } = await ask("ada", "<script>");
  const { html } = await visit(link, "bob");
  expect(html).toContain("&lt;script> 1.4.2?");
  expect(html).not.toContain("<script>");
  expect(await status()).toBe("working");
  expect([deployed, told()]).toEqual([[], []]);
});

test("one manager who declines is enough, even if another has approved", async () => {
  const { ask, deployed, told } = await opened();
  const { link, text } = await ask("ada");
  await press(link, "bob", "accept");
  await press(link, "carol", "decline", "it is Friday");
  await expect
    .poll(text, patience)
    .toBe("shop 1.4.2 was not deployed. carol declined: it is Friday");
  expect(deployed).toEqual([]);
  expect(told()).toEqual(["bob approved link", "carol rejected link it is Friday"]);
});

test("if one manager is all that decide within a day, the call ends politely, and the link no longer works", async () => {
  const { ask, rest, deployed, told } = await opened();
  const { link, text } = await ask("ada");
  await press(link, "bob", "accept");
  await rest();
  later(25 * hourMs);
  await expect
    .poll(text, patience)
    .toBe(
      "shop 1.4.2 was not deployed, because too few managers decided within a day. You can ask again.",
    );
  expect((await press(link, "dan", "accept")).status).toBe(404);
  expect(deployed).toEqual([]);
  expect(told()).toEqual(["bob approved link"]);
});

test("a manager counts once, and what comes after the second approval changes nothing", async () => {
  let finish = () => {};
  const deploying = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { ask, deployed, told } = await opened(deploying);
  const { link, text } = await ask("ada");
  await press(link, "bob", "accept");
  expect((await press(link, "bob", "accept")).status).not.toBe(303);
  expect(deployed).toEqual([]);
  await press(link, "dan", "accept");
  await expect.poll(() => deployed, patience).toEqual(["shop 1.4.2"]);
  expect((await press(link, "carol", "decline")).html).toContain("Nothing more is needed.");
  finish();
  await expect.poll(text, patience).toBe(done);
  expect(deployed).toEqual(["shop 1.4.2"]);
  expect(told().slice(0, 1)).toEqual(["bob approved link"]);
  expect(told().filter((line) => line.includes("approved"))).toHaveLength(2);
});

test("approving needs a sign-in, the group, and a person other than the requester", async () => {
  const { ask, deployed, told } = await opened();
  const { link, text } = await ask("carol");
  for (const name of ["carol", "ada", "mallory"]) {
    expect((await visit(link, name)).status).toBe(403);
    expect((await press(link, name, "accept")).status).toBe(403);
  }
  expect([deployed, told()]).toEqual([[], []]);
  await press(link, "bob", "accept");
  await press(link, "dan", "accept");
  await expect.poll(text, patience).toBe(done);
});

test("a link that was tampered with opens nothing", async () => {
  const { ask, deployed, told } = await opened();
  const { link, status } = await ask("ada");
  const at = link.length - 20;
  const tampered = link.slice(0, at) + (link[at] === "A" ? "B" : "A") + link.slice(at + 1);
  expect((await visit(tampered, "bob")).status).toBe(404);
  expect((await press(tampered, "bob", "accept")).status).toBe(404);
  expect(await status()).toBe("working");
  expect([deployed, told()]).toEqual([[], []]);
});
