// What the console reads and does: lists, one task, the inbox, answers and their permissions.

import type { Operator } from "mcp-parley/console";
import { expect, test, vi } from "vitest";
import type { Failure, HealthFacts, TaskDetails } from "../../src/console/wire.ts";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { patience } from "../patience.ts";
import { begun } from "../wire/task-calls.ts";
import { admin, clerk, opened, viewer } from "./opened.ts";
import { shop, waiting } from "./shop.ts";

const done = async (at: Awaited<ReturnType<typeof opened>>, id: string) =>
  vi.waitFor(async () => {
    const { body } = await at.get(`api/tasks/${id}`, admin);
    expect(body).toMatchObject({ task: { status: "completed" } });
    return body;
  }, patience);

test("a task has a row, a reason, entries, runs and what it waits for", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  const { body } = await at.get("api/tasks?status=input_required", viewer);
  expect(body).toMatchObject({
    tasks: [
      {
        id,
        tool: "order",
        status: "input_required",
        waits: [{ kind: "question", key: "how", since: expect.any(Number) }],
        isStuck: false,
        why: 'It waits for its client to answer "how".',
      },
    ],
    counts: { live: 1, inputRequired: 1 },
  });
  const one = await at.get(`api/tasks/${id}`, admin);
  expect(one.body).toMatchObject({
    task: { id, input: { item: "lamp" }, logLength: 3 },
    entries: [
      { seq: 0, kind: "background", epoch: 0 },
      { seq: 1, kind: "version" },
      {
        seq: 2,
        kind: "step",
        key: "reserve",
        epoch: 1,
        value: { reserved: "lamp" },
        tries: 1,
        ms: expect.any(Number),
        idempotencyKey: expect.stringMatching(/\/reserve$/),
      },
    ],
    runs: [{ epoch: 1, how: "parked" }],
    mayCancel: true,
  });
  expect((await at.get(`api/tasks/${id}/log?from=2&limit=1`, admin)).body).toMatchObject({
    entries: [{ seq: 2 }],
  });
});

test("a step with an undo that succeeds at once has been tried once", async () => {
  const made = shop();
  const undo = made.app.undo("free", () => {});
  made.app.tool("hold", { task: "required" }, async (ctx) => {
    await ctx.background();
    await ctx.step("hold", () => "held", { undo });
    let failures = 0;
    await ctx.step("flaky", () => void (failures++ < 2 && expect.fail("not yet")), {
      undo,
      retries: 2,
    });
    return "done";
  });
  const at = await opened(made.app);
  const caller = { authInfo: { token: "t", clientId: "c", scopes: [] } };
  const to = (request: Request) => made.app.handle(request, caller);
  const id = await begun(to, "hold");
  const { entries } = (await done(at, id)) as TaskDetails;
  const tried = entries.filter(({ kind }) => kind === "step").map(({ key, tries }) => [key, tries]);
  expect(tried).toEqual([
    ["hold", 1],
    ["flaky", 3],
  ]);
});

test("values are shown only to those who may see them", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  for (const path of [`api/tasks/${id}`, "api/tasks", "api/inbox", "api/health", "api/audit"]) {
    expect(JSON.stringify((await at.get(path, viewer)).body)).not.toContain("lamp");
  }
  expect(JSON.stringify((await at.get(`api/tasks/${id}`, clerk)).body)).toContain("lamp");
});

test("a wait is answered by whoever may act, and checked first", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "pay");
  const inbox = await at.get("api/inbox", clerk);
  expect(inbox.body).toMatchObject({
    items: [{ task: id, key: "sign", kind: "wait", about: { Item: "lamp" }, mayAnswer: true }],
  });
  const answer = { task: id, key: "sign", value: { ok: true } };
  expect((await at.post("api/answers", answer, viewer)).status).toBe(403);
  const wrong = await at.post("api/answers", { ...answer, value: { ok: "yes" } }, clerk);
  expect(wrong.body).toMatchObject({ status: "invalid", reason: expect.stringContaining("ok") });
  const both = await Promise.all([
    at.post("api/answers", answer, clerk),
    at.post("api/answers", { ...answer, value: { ok: false } }, admin),
  ]);
  expect(both.map(({ body }) => (body as { status: string }).status).toSorted()).toEqual([
    "already_answered",
    "delivered",
  ]);
  await done(at, id);
  expect((await at.get("api/inbox", clerk)).body).toEqual({ items: [] });
  const { body } = await at.get(`api/tasks/${id}`, admin);
  expect(body).toMatchObject({
    audit: expect.arrayContaining([
      expect.objectContaining({ action: "answered", key: "sign", via: "console" }),
    ]),
  });
});

test("members of the group decide about an approval, each once, and never the caller", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "refund");
  const [ada, bo] = [admin, { ...clerk, who: "bo" }];
  const outsider = { ...clerk, who: "olga", groups: ["sales"] };
  const listed = await at.get("api/inbox?group=finance", bo);
  expect(listed.body).toMatchObject({
    items: [
      {
        task: id,
        key: "refund",
        kind: "approval",
        group: "finance",
        message: "Refund the lamp?",
        needed: 2,
        decisions: [],
        mayAnswer: true,
      },
    ],
  });
  expect((await at.get("api/inbox", clerk)).body).toMatchObject({
    items: [{ mayAnswer: false, whyNot: "You made this call, so others decide." }],
  });
  const decide = (operator: typeof clerk, approve = true) =>
    at.post("api/decisions", { task: id, key: "refund", approve, note: "fine" }, operator);
  for (const operator of [outsider, clerk, { ...bo, may: "look" as const }]) {
    expect((await decide(operator)).status).toBe(403);
  }
  const wrong = { task: id, key: "refund", value: { decisions: [] } };
  expect((await at.post("api/answers", wrong, ada)).status).toBe(409);
  expect((await decide(ada)).body).toMatchObject({ status: "counted" });
  expect((await decide(ada)).body).toMatchObject({ status: "already_decided" });
  expect((await at.get("api/inbox", bo)).body).toMatchObject({
    items: [{ decisions: [{ who: "ada", isApproved: true, note: "fine", via: "console" }] }],
  });
  expect((await decide(bo)).body).toMatchObject({ status: "approved" });
  // Whoever has taken part is told that, and anyone else that they came too late.
  expect((await decide(ada)).body).not.toHaveProperty("isLate");
  const eve = await decide({ ...bo, who: "eve" });
  expect(eve.body).toMatchObject({ status: "already_decided", isLate: true, decisions: [] });
  expect(await done(at, id)).toMatchObject({
    task: { result: { content: [{ text: "refunded by ada and bo" }] } },
  });
});

test("nobody decides who is not known by the name under which they call", async () => {
  const made = shop();
  const authorize = (): Operator => ({ ...admin, who: "Cleo from sales" });
  const at = await opened(made.app, { authorize });
  const id = await waiting(made, at, "refund");
  const { items } = (await at.get("api/inbox", admin)).body as { items: { whyNot: string }[] };
  expect(items).toMatchObject([{ mayAnswer: false }]);
  expect(items[0]?.whyNot).toMatch(
    /^The console does not know under which principal you call.* return principal from authorize/,
  );
  const body = { task: id, key: "refund", approve: true };
  expect(await at.post("api/decisions", body, admin)).toMatchObject({
    status: 403,
    body: { error: { code: "no_principal" } },
  });
  // Everything else is open to them.
  expect((await at.post(`api/tasks/${id}/cancel`, {}, admin)).status).toBe(200);
});

test("a client's question is answered in its place only by those who may", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  const { body } = await at.get("api/inbox", clerk);
  expect(body).toMatchObject({
    items: [
      {
        kind: "question",
        message: "How to send lamp?",
        mayAnswer: false,
        whyNot: "The client is asked, and you may not answer in its place.",
      },
    ],
  });
  const answer = { task: id, key: "how", value: { way: "post" } };
  expect((await at.post("api/answers", answer, clerk)).status).toBe(403);
  expect((await at.post("api/answers", { ...answer, value: "post" }, admin)).body).toMatchObject({
    status: "invalid",
  });
  expect((await at.post("api/answers", answer, admin)).body).toEqual({ status: "delivered" });
  expect(await done(at, id)).toMatchObject({
    task: { result: { content: [{ text: "lamp sent by post" }] } },
  });
  expect(made.ran).toEqual(["reserve", "send"]);
});

test("a task is cancelled once, by those who may act", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "nap", {});
  expect((await at.post(`api/tasks/${id}/cancel`, {}, viewer)).status).toBe(403);
  expect((await at.post(`api/tasks/${id}/cancel`, {}, clerk)).body).toEqual({
    task: id,
    status: "cancelled",
  });
  expect((await at.post(`api/tasks/${id}/cancel`, {}, clerk)).status).toBe(409);
});

test("in development a task is run again from an entry, as a new task with new keys", async () => {
  const made = shop();
  const at = await opened(made.app);
  const id = await waiting(made, at, "order");
  await at.post("api/answers", { task: id, key: "how", value: { way: "post" } }, admin);
  const first = await done(at, id);
  expect((await at.post(`api/tasks/${id}/rerun`, { from: 3 }, clerk)).status).toBe(403);
  expect((await at.post(`api/tasks/${id}/rerun`, { from: 99 }, admin)).status).toBe(400);
  const again = await at.post(`api/tasks/${id}/rerun`, { from: 4 }, admin);
  const { task } = again.body as { task: string };
  expect(task).not.toBe(id);
  const second = await done(at, task);
  // The first step and the answer were taken over, and the second step ran again.
  expect(made.ran).toEqual(["reserve", "send", "send"]);
  expect(second).toMatchObject({
    task: { result: { content: [{ text: "lamp sent by post" }] }, input: { item: "lamp" } },
    linked: { from: { task: id, entries: 4 } },
  });
  expect((await at.get(`api/tasks/${id}`, admin)).body).toMatchObject({
    linked: { to: [{ task, entries: 4 }] },
  });
  const keysOf = (body: unknown) =>
    (body as { entries: { idempotencyKey?: string }[] }).entries.flatMap(
      ({ idempotencyKey }) => idempotencyKey ?? [],
    );
  expect(keysOf(second)).toHaveLength(2);
  expect(keysOf(second).filter((key) => keysOf(first).includes(key))).toEqual([]);
});

test("a stuck task is found among others, with the reason", async () => {
  let behind = 0;
  const store = new MemoryStore({ now: () => Date.now() - behind });
  const made = shop({ store });
  const at = await opened(made.app);
  await waiting(made, at, "nap", {});
  // Nobody has this tool.
  const lost = { id: "lost", callId: "lost-call", tool: "gone", principal: "", input: "?" };
  const rest = { log: [], inbox: [], ttlMs: 3_600_000, claimedBy: undefined };
  behind = 60_000;
  await store.create({ ...lost, ...rest }, 10);
  behind = 0;
  const { body } = await at.get("api/tasks?stuck=true", viewer);
  expect(body).toMatchObject({
    tasks: [
      {
        id: "lost",
        isStuck: true,
        why: expect.stringMatching(
          /^It has been due for \d+ s\. No worker has taken it, and this version of the server does not have the tool "gone"\. Deploy one that has it, or cancel the task\.$/,
        ),
      },
    ],
  });
  expect((body as { tasks: unknown[] }).tasks).toHaveLength(1);
});

test("a worker that lost a task is silent or not, and a lease that was not renewed has an end", async () => {
  let ahead = 0;
  const store = new MemoryStore({ now: () => Date.now() + ahead });
  const at = await opened(shop({ store }).app);
  const rest = { log: [], inbox: [], ttlMs: 3_600_000, claimedBy: undefined };
  await store.create(
    { id: "lost", callId: "lost-call", tool: "gone", principal: "", input: "?", ...rest },
    10,
  );
  const { leaseMs } = store;
  const claim = (worker: string) => store.claim({ worker, tools: ["gone"], most: 1, leaseMs });
  const runs = async () => ((await at.get("api/tasks/lost", viewer)).body as TaskDetails).runs;
  const figures = async () => ((await at.get("api/health", viewer)).body as HealthFacts).figures;
  await claim("a");
  expect(await runs()).toEqual([{ epoch: 1, worker: "a", beganAt: expect.any(Number) }]);
  expect(await figures()).toMatchObject({ live: 1, running: 1, due: 0 });
  ahead = leaseMs + 1;
  // It counts once.
  expect(await figures()).toMatchObject({ live: 1, running: 0, due: 1 });
  const [late] = await runs();
  expect(late?.leaseEndedAt).toBe((late?.beganAt ?? 0) + leaseMs);
  await claim("b");
  const lost = { worker: "a", how: "lost", endedAt: expect.any(Number) };
  // The store was not to be reached, and is again.
  await store.renew("a", [], leaseMs);
  ahead += 31_000;
  await store.renew("a", [], leaseMs);
  expect(await runs()).toMatchObject([lost, { worker: "b", leaseEndedAt: expect.any(Number) }]);
  expect((await runs())[0]).not.toHaveProperty("isSilent");
  ahead += Math.max(30_000, leaseMs) + 1;
  expect((await runs())[0]).toMatchObject({ ...lost, isSilent: true });
  // Whoever has shut down in order is not in the list of workers.
  await store.leave("a");
  expect((await runs())[0]).not.toHaveProperty("isSilent");
});

test("when the store is down the API says so, and the live stream tells when it is back", async () => {
  const made = shop();
  const at = await opened(made.app);
  await waiting(made, at, "nap", {});
  const stop = new AbortController();
  const response = await fetch(new URL("api/live", at.at), {
    headers: { "x-operator": JSON.stringify(viewer) },
    signal: stop.signal,
  });
  const lines: unknown[] = [];
  const reading = (async () => {
    let text = "";
    for await (const part of response.body ?? []) {
      text += Buffer.from(part as Uint8Array).toString("utf8");
      const whole = text.split("\n");
      text = whole.pop() ?? "";
      lines.push(...whole.map((line): unknown => JSON.parse(line)));
    }
  })().catch(() => {});
  const store = made.store as unknown as { figures: unknown; workers: unknown };
  const { figures, workers } = store;
  const down = () => Promise.reject(new Error("connection refused to db.internal"));
  store.figures = down;
  store.workers = down;
  const { status, body } = await at.get("api/tasks", viewer);
  expect(status).toBe(503);
  expect(body).toMatchObject({ error: { code: "store_down" } });
  expect(JSON.stringify(body)).not.toContain("db.internal");
  // Both say since when.
  const { since } = (body as Failure).error;
  expect(Date.now() - (since ?? 0)).toBeLessThan(60_000);
  await vi.waitFor(
    () => expect(lines).toContainEqual({ type: "store", isDown: true, since }),
    patience,
  );
  store.figures = figures;
  store.workers = workers;
  await vi.waitFor(() => expect(lines).toContainEqual({ type: "store", isDown: false }), patience);
  expect((await at.get("api/tasks", viewer)).status).toBe(200);
  // What people met is counted, whether or not this process has a worker.
  const { storeErrors } = (await at.get("api/health", viewer)).body as HealthFacts;
  expect(storeErrors).toBeGreaterThan(0);
  stop.abort();
  await reading;
});

test("a new task is told to the pages that listen", async () => {
  const made = shop();
  const at = await opened(made.app);
  const stop = new AbortController();
  const response = await fetch(new URL("api/live", at.at), {
    headers: { "x-operator": JSON.stringify(viewer) },
    signal: stop.signal,
  });
  const id = await waiting(made, at, "nap", {});
  let text = "";
  for await (const part of response.body ?? []) {
    text += Buffer.from(part as Uint8Array).toString("utf8");
    if (text.includes(`{"type":"task","id":"${id}"}`)) break;
  }
  expect(text).toContain('{"type":"beat"}');
  stop.abort();
});

test("closing the app ends the streams of its console", async () => {
  const made = shop();
  const at = await opened(made.app);
  const response = await fetch(new URL("api/live", at.at), {
    headers: { "x-operator": JSON.stringify(viewer) },
  });
  const before = performance.now();
  await made.app.close();
  await response.text().catch(() => "");
  // Otherwise closing waits for ten seconds and then cuts the connection.
  expect(performance.now() - before).toBeLessThan(8_000);
});
