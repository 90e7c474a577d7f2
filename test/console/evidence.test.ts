// What the audit says about people at the console, and what of it others may see.

import { expect, test, vi } from "vitest";
import { z } from "zod";
import { patience } from "../patience.ts";
import { begun } from "../wire/task-calls.ts";
import { admin, clerk, opened, viewer } from "./opened.ts";
import { shop, waiting } from "./shop.ts";

interface Shown {
  readonly task: { readonly status: string };
  readonly audit: readonly Readonly<Record<string, unknown>>[];
}

type Console = Awaited<ReturnType<typeof opened>>;

/** What the audit says under these actions, once the task is over. */
async function evidence(at: Console, id: string, ...actions: string[]) {
  let shown: Shown | undefined;
  await vi.waitFor(async () => {
    shown = (await at.get(`api/tasks/${id}`, admin)).body as Shown;
    expect(shown.task.status).toMatch(/^(completed|failed|cancelled)$/);
  }, patience);
  return shown?.audit
    .filter(({ action }) => actions.includes(String(action)))
    .map(({ action, who, via, note }) => JSON.parse(JSON.stringify({ action, who, via, note })));
}

test("an answer in a client's place is recorded once, and never as the client's own", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  const answer = { task: id, key: "how", value: { way: "post" } };
  expect((await at.post("api/answers", answer, admin)).body).toEqual({ status: "delivered" });
  expect(await evidence(at, id, "answered")).toEqual([
    { action: "answered", who: "ada", via: "console" },
  ]);
});

test("a value that an operator gives is recorded once", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "pay");
  const answer = { task: id, key: "sign", value: { ok: true } };
  expect((await at.post("api/answers", answer, admin)).body).toEqual({ status: "delivered" });
  expect(await evidence(at, id, "answered")).toEqual([
    { action: "answered", who: "ada", via: "console" },
  ]);
});

test("a question that an operator declines is recorded with the note", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  const decline = { task: id, key: "how", decline: true, note: "out of stock" };
  expect((await at.post("api/answers", decline, admin)).body).toEqual({ status: "delivered" });
  const declined = await evidence(at, id, "declined");
  for (const one of declined ?? []) expect(one).toMatchObject({ who: "ada", via: "console" });
  expect(declined?.map(({ note }) => note)).toContain("out of stock");
});

test("a caller's own confirmation that an operator gives has the operator's name", async () => {
  const made = shop();
  made.app.tool("wipe", { task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.approve("sure", "Delete everything?");
    return "wiped";
  });
  const at = await opened(made.app);
  const caller = { authInfo: { token: "t", clientId: "c", scopes: [] } };
  const id = await begun((request: Request) => made.app.handle(request, caller), "wipe", {});
  await vi.waitFor(async () => {
    expect((await at.get("api/inbox", admin)).body).toMatchObject({ items: [{ key: "sure" }] });
  }, patience);
  const { body } = await at.get("api/inbox", admin);
  const [item] = (body as { items: { form: { properties: object } }[] }).items;
  const [field = ""] = Object.keys(item?.form.properties ?? {});
  const value = z.record(z.string(), z.boolean()).parse({ [field]: true });
  const answer = { task: id, key: "sure", value: field === "" ? {} : value };
  expect((await at.post("api/answers", answer, admin)).body).toEqual({ status: "delivered" });
  expect(await evidence(at, id, "approved", "rejected", "answered")).toEqual([
    { action: "approved", who: "ada", via: "console" },
  ]);
});

test("a task that an operator cancels is recorded once, with the operator's name", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "nap", {});
  expect((await at.post(`api/tasks/${id}/cancel`, {}, admin)).status).toBe(200);
  expect(await evidence(at, id, "call_cancelled")).toEqual([
    { action: "call_cancelled", who: "ada", via: "console" },
  ]);
});

test("a task that is run again says so, with the new task and who did it", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  await at.post("api/answers", { task: id, key: "how", value: { way: "post" } }, admin);
  await evidence(at, id);
  const { body } = await at.post(`api/tasks/${id}/rerun`, { from: 4 }, admin);
  expect(await evidence(at, id, "rerun")).toEqual([
    { action: "rerun", who: "ada", via: "console", note: (body as { task: string }).task },
  ]);
});

test("why someone decided is for those who decide, and for those who may see values", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "refund");
  const bo = { ...clerk, who: "bo", values: false };
  const outsider = { ...clerk, who: "olga", groups: ["sales"], values: false };
  const decide = (operator: typeof clerk) =>
    at.post(
      "api/decisions",
      { task: id, key: "refund", approve: true, note: "he is ill" },
      operator,
    );
  expect((await decide(admin)).body).toMatchObject({ status: "counted" });
  const seen = async (operator: typeof clerk) => {
    const paths = [`api/tasks/${id}`, "api/inbox", "api/tasks", "api/health", "api/audit"];
    const got = await Promise.all(paths.map(async (path) => (await at.get(path, operator)).body));
    return paths.filter((_, n) => JSON.stringify(got[n]).includes("he is ill"));
  };
  expect(await seen(viewer)).toEqual([]);
  expect(await seen(outsider)).toEqual([]);
  // Whoever has to decide next may know why the others agreed.
  expect(await seen(bo)).toEqual(["api/inbox"]);
  expect(await seen({ ...viewer, values: true })).toContain("api/audit");
  // Nor does it help to decide when it is too late.
  expect((await decide(bo)).body).toMatchObject({ status: "approved" });
  const late = (await decide(outsider)).body;
  expect(late).toEqual({ status: "already_decided", isLate: true, decisions: [] });
  expect((await decide(bo)).body).toMatchObject({ decisions: [{ note: "he is ill" }, {}] });
});

test("nobody decides on what they have not seen", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "refund");
  const { items } = (await at.get("api/inbox", admin)).body as { items: { digest: string }[] };
  const decide = (digest: unknown) =>
    at.post("api/decisions", { task: id, key: "refund", approve: true, digest }, admin);
  expect((await decide("of another wording")).body).toEqual({ status: "changed", decisions: [] });
  expect((await decide(7)).status).toBe(400);
  expect((await decide(items[0]?.digest)).body).toMatchObject({ status: "counted" });
});
