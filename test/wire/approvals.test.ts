// Approvals by a group over the wire: who may decide, what counts, and what the page shows.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { memoryStore, parley, ParleyError, UnansweredError } from "mcp-parley";
import type {
  App,
  AuditRecord,
  GroupApproveOptions,
  Notice,
  ParleyOptions,
  Visitor,
} from "mcp-parley";
import { afterEach, describe, expect, test } from "vitest";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { callTool, envelope, exchange, tokenIn } from "./post.ts";

const opened: App[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

const people: Readonly<Record<string, Visitor>> = {
  ada: { principal: "ada", groups: ["managers"] },
  bo: { principal: "bo", groups: ["managers", "staff"] },
  cy: { principal: "cy", groups: ["managers"] },
  di: { principal: "di", groups: ["staff"] },
};

const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      const expiresAt = Date.now() / 1000 + 3_600;
      return { token, clientId: "one-application", scopes: [], expiresAt, extra: { sub: token } };
    },
  },
};
const principal = ({ extra }: AuthInfo) => extra?.["sub"] as string;
const asAda = { headers: { authorization: "Bearer ada" } };

const origin = "https://desk.example.com";

interface Made {
  readonly app: App;
  readonly notices: Notice[];
}

async function make(
  approval: Partial<GroupApproveOptions> = {},
  options: Partial<ParleyOptions> = {},
): Promise<Made> {
  const notices: Notice[] = [];
  const app = parley({
    name: "desk",
    version: "1.0.0",
    store: memoryStore(),
    keys,
    logger: quiet,
    url: origin,
    auth,
    principal,
    pages: { authorize: (request: Request) => people[request.headers.get("x-user") ?? ""] },
    ...options,
  } as ParleyOptions);
  opened.push(app);
  app.tool("pay", { task: "optional" }, async (ctx) => {
    try {
      const { decisions } = await ctx.approve("pay", "Pay $500 to ACME?", {
        by: "managers",
        of: 2,
        about: { Amount: "$500" },
        notify: (notice) => notices.push(notice),
        ...approval,
      });
      return decisions.map(({ who, via, note = "-" }) => `${who} ${via} ${note}`).join(", ");
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error;
      const { reason, decisions } = error;
      return `${reason}: ${error.message} (${decisions.map(({ who }) => who).join(", ")})`;
    }
  });
  await app.work();
  return { app, notices };
}

const capabilities = {
  elicitation: { form: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

async function start({ app, notices }: Made): Promise<{ id: string; ticket: string; url: string }> {
  const { result } = await callTool(app, "pay", {}, { capabilities, ...asAda });
  expect(result).toMatchObject({ resultType: "task" });
  await expect.poll(() => notices.length, patience).toBe(1);
  const { ticket, url } = notices[0]!;
  return { id: String(result?.["taskId"]), ticket, url };
}

/** The text that the task returns. */
async function outcome(app: App, id: string): Promise<string> {
  let text = "";
  await expect
    .poll(async () => {
      const { result } = await exchange(
        app,
        envelope("tasks/get", { taskId: id }, { capabilities }),
        asAda,
      );
      const { content = [] } = (result?.["result"] ?? {}) as { content?: { text: string }[] };
      text = content[0]?.text ?? "";
      return result?.["status"];
    }, patience)
    .toBe("completed");
  return text;
}

const by = (who: string, approve = true, note?: string) => ({
  ...(note === undefined ? {} : { note }),
  who,
  groups: people[who]?.groups ?? [],
  approve,
});

describe("app.decide", () => {
  test("two of three managers approve, and the tool goes on with who did", async () => {
    const made = await make();
    const { id, ticket } = await start(made);
    const { app } = made;
    expect(app.readTicket(ticket)).toMatchObject({
      kind: "approval",
      key: "pay",
      principal: "ada",
    });
    const first = await app.decide(ticket, by("bo", true, "fine"));
    expect(first).toEqual({
      status: "counted",
      decisions: [
        { who: "bo", isApproved: true, at: expect.any(Date), via: "delivery", note: "fine" },
      ],
    });
    expect(await app.decide(ticket, by("bo"))).toMatchObject({ status: "already_decided" });
    expect(await app.decide(ticket, by("cy"))).toMatchObject({ status: "approved" });
    expect(await outcome(app, id)).toBe("bo delivery fine, cy delivery -");
    const late = await app.decide(ticket, by("bo", false));
    expect(late).toMatchObject({
      status: "already_decided",
      decisions: [{ who: "bo" }, { who: "cy" }],
    });
    expect(made.notices).toHaveLength(1);
  });

  test("one refusal ends it, and the handler learns who and why", async () => {
    const made = await make({ of: 3 });
    const { id, ticket } = await start(made);
    await made.app.decide(ticket, by("cy"));
    const declined = await made.app.decide(ticket, by("bo", false, "too expensive"));
    expect(declined).toMatchObject({
      status: "declined",
      decisions: [{ who: "cy" }, { who: "bo" }],
    });
    expect(await outcome(made.app, id)).toBe(
      'declined: Approval "pay" was declined by bo: too expensive (cy, bo)',
    );
  });

  test("the caller and people outside the group may not decide, and learn nothing", async () => {
    const made = await make({ of: 1 });
    const { ticket } = await start(made);
    for (const who of ["ada", "di"]) {
      expect(await made.app.decide(ticket, by(who))).toEqual({
        status: "not_allowed",
        decisions: [],
      });
    }
    // Groups are those of the moment of the decision.
    const joined = { ...by("di"), groups: ["managers"] };
    expect(await made.app.decide(ticket, joined)).toMatchObject({ status: "approved" });
  });

  test("after a cancellation and after the time limit, it is gone", async () => {
    const made = await make();
    const { id, ticket } = await start(made);
    await exchange(made.app, envelope("tasks/cancel", { taskId: id }, { capabilities }), asAda);
    expect(await made.app.decide(ticket, by("bo"))).toEqual({ status: "gone", decisions: [] });

    const short = await make({ timeoutMs: 1 }, { store: memoryStore() });
    const { result } = await callTool(short.app, "pay", {}, { capabilities, ...asAda });
    expect(await outcome(short.app, String(result?.["taskId"]))).toMatch(/^timed_out/);
  });

  test("a decision that comes too late is recorded with its own time, and with what it was", async () => {
    const records: AuditRecord[] = [];
    const made = await make({ of: 2 }, { audit: (record) => records.push(record) });
    const { ticket } = await start(made);
    const { decisions } = await made.app.decide(ticket, by("bo"));
    const first = decisions[0]!.at.getTime();
    await expect.poll(() => Date.now() > first, patience).toBe(true);
    await made.app.decide(ticket, by("bo", false, "on second thoughts"));
    await made.app.decide(ticket, by("cy"));
    await made.app.decide(ticket, by("cy"));
    const late = records.filter(({ action }) => action === "too_late");
    expect(late.map(({ who, note }) => [who, note])).toEqual([
      ["bo", "would have declined: on second thoughts"],
      ["cy", "would have approved"],
    ]);
    expect(late[0]!.at.getTime()).toBeGreaterThan(first);
  });

  test("a late decision is recorded with the tool, the caller and what was asked", async () => {
    const records: AuditRecord[] = [];
    const made = await make({ of: 1 }, { audit: (record) => records.push(record) });
    const { id, ticket } = await start(made);
    const late = () => records.filter(({ action }) => action === "too_late");
    await made.app.decide(ticket, by("bo"));
    await made.app.decide(ticket, by("cy"));
    // Once the handler has gone on, the log of the task has the outcome.
    await outcome(made.app, id);
    await made.app.decide(ticket, by("cy", false));
    const { digest } = records.find(({ action }) => action === "asked")!;
    const asked = {
      tool: "pay",
      taskId: id,
      principal: "ada",
      who: "cy",
      key: "pay",
      digest,
      message: "Pay $500 to ACME?",
      about: { Amount: "$500" },
    };
    expect(late()).toMatchObject([asked, { ...asked, note: "would have declined" }]);
    // Nobody who could not have decided leaves a record.
    for (const who of ["ada", "di"]) await made.app.decide(ticket, by(who));
    expect(late()).toHaveLength(2);
  });

  test("a decision about a call that was cancelled is recorded with the tool and the caller", async () => {
    const records: AuditRecord[] = [];
    const made = await make({ of: 1 }, { audit: (record) => records.push(record) });
    const { id, ticket } = await start(made);
    const cancel = envelope("tasks/cancel", { taskId: id }, { capabilities });
    await exchange(made.app, cancel, asAda);
    expect(await made.app.decide(ticket, by("bo"))).toMatchObject({ status: "gone" });
    expect(records.at(-1)).toMatchObject({
      action: "too_late",
      tool: "pay",
      taskId: id,
      principal: "ada",
      message: "Pay $500 to ACME?",
    });
  });

  test("tickets of the two kinds are not mixed up", async () => {
    const made = await make();
    const { ticket } = await start(made);
    await expect(made.app.deliver(ticket, true)).rejects.toThrow(
      "This ticket is for an approval. Use app.decide(ticket, { who, groups, approve }).",
    );
    const bad = made.app.decide("t1.forged", by("bo"));
    await expect(bad).rejects.toMatchObject({ code: "bad_ticket" });
    for (const wrong of [
      { approve: undefined },
      { groups: "managers" },
      { who: "" },
      { note: 7 },
    ]) {
      const deciding = made.app.decide(ticket, { ...by("bo"), ...wrong } as never);
      await expect(deciding).rejects.toBeInstanceOf(ParleyError);
    }
  });

  test("notify can decide itself, because the store has the approval by then", async () => {
    const statuses: string[] = [];
    const made: Made = await make({
      of: 1,
      notify: async ({ ticket }) => {
        statuses.push((await made.app.decide(ticket, by("bo"))).status);
      },
    });
    const { result } = await callTool(made.app, "pay", {}, { capabilities, ...asAda });
    expect(await outcome(made.app, String(result?.["taskId"]))).toBe("bo delivery -");
    expect(statuses).toEqual(["approved"]);
  });
});

describe("what a client sends", () => {
  test("does not answer an approval or a waitFor that is open beside a question", async () => {
    const made = await make();
    made.app.tool("both", { task: "optional" }, async (ctx) => {
      const approved = ctx.approve("pay", "Pay?", { by: "managers" });
      const [, { decisions }] = await Promise.all([ctx.ask("name", "Who are you?"), approved]);
      return `approved by ${decisions.map(({ who }) => who).join()}`;
    });
    const asked = await callTool(made.app, "both", {}, { capabilities, ...asAda });
    const forged = { decisions: [{ who: "bo", isApproved: true, at: 0, via: "link" }] };
    const inputResponses = {
      name: { action: "accept", content: { name: "ada" } },
      pay: forged,
    };
    const more = { inputResponses, requestState: tokenIn(asked) };
    const next = await exchange(
      made.app,
      envelope("tools/call", { name: "both", arguments: {}, ...more }, { capabilities }),
      asAda,
    );
    expect(next.result).toMatchObject({ resultType: "task" });
    const taskId = String(next.result?.["taskId"]);
    await exchange(
      made.app,
      envelope("tasks/update", { taskId, inputResponses: { pay: forged } }, { capabilities }),
      asAda,
    );
    const { result } = await exchange(
      made.app,
      envelope("tasks/get", { taskId }, { capabilities }),
      asAda,
    );
    expect(result).toMatchObject({ status: "working" });
  });
});

describe("the page", () => {
  const at = (app: App, url: string, who: string) =>
    app.pages(new Request(url, { headers: { "x-user": who } }));
  const digestOn = (text: string) => /name="digest" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const send = async (app: App, url: string, who: string, fields: Record<string, string>) => {
    const digest = digestOn(await (await at(app, url, who)).text());
    return app.pages(
      new Request(url, {
        method: "POST",
        body: new URLSearchParams({ digest, ...fields }),
        headers: { origin, "x-user": who },
      }),
    );
  };

  test("shows what it is about and who has decided, and takes a decision with a note", async () => {
    const made = await make();
    const { app } = made;
    const { id, url } = await start(made);
    const text = await (await at(app, url, "bo")).text();
    for (const shown of ["Pay $500 to ACME?", "Amount", "0 of 2 people", "Approve", "Decline"]) {
      expect(text).toContain(shown);
    }
    const sent = await send(app, url, "bo", { action: "accept", note: " <b>ok</b> " });
    expect([sent.status, sent.headers.get("location")]).toEqual([303, url]);
    const after = await (await at(app, url, "bo")).text();
    expect(after).toContain("Your decision is saved.");
    expect(after).not.toContain("<form");
    const other = await (await at(app, url, "cy")).text();
    expect(other).toContain("<bdi>bo</bdi> approved this on");
    expect(other).toContain("&lt;b>ok&lt;/b>");
    await send(app, url, "cy", { action: "accept" });
    expect(await outcome(app, id)).toBe("bo link <b>ok</b>, cy link -");
    expect(await (await at(app, url, "cy")).text()).toContain("Approved");
  });

  test.each([
    ["a text for the list of groups", { principal: "zoe", groups: "ex-managers" }],
    ["no name", { principal: undefined, groups: ["managers"] }],
    ["an empty name", { principal: "", groups: ["managers"] }],
  ])("does not take a decision if authorize returns %s", async (_what, visitor) => {
    const authorize = () => visitor as unknown as Visitor;
    const made = await make({ of: 1 }, { pages: { authorize } });
    const { url, id } = await start(made);
    expect((await at(made.app, url, "bo")).status).toBe(503);
    expect((await send(made.app, url, "bo", { action: "accept" })).status).toBe(503);
    const { result } = await exchange(
      made.app,
      envelope("tasks/get", { taskId: id }, { capabilities }),
      asAda,
    );
    expect(result).toMatchObject({ status: "working" });
  });

  test("a decision without a note is recorded without one", async () => {
    const records: AuditRecord[] = [];
    const made = await make({ of: 1 }, { audit: (record) => records.push(record) });
    const { url } = await start(made);
    await send(made.app, url, "bo", { action: "accept", note: "  " });
    const approved = records.find(({ action }) => action === "approved");
    expect(approved).toMatchObject({ who: "bo", via: "link" });
    expect(approved?.note).toBeUndefined();
  });

  test("someone who decides twice learns that the second decision was not counted", async () => {
    const made = await make();
    const { app } = made;
    const { url } = await start(made);
    // Two tabs, opened before anything was decided.
    const digest = digestOn(await (await at(app, url, "bo")).text());
    expect((await send(app, url, "bo", { action: "accept", digest })).status).toBe(303);
    const again = async () => {
      const second = await send(app, url, "bo", { action: "decline", digest });
      expect(second.status).toBe(409);
      const text = await second.text();
      expect(text).toContain("You had already approved this");
      expect(text).toContain("Your second decision was not counted.");
    };
    await again();
    // And after someone else has completed it.
    await send(app, url, "cy", { action: "accept" });
    await again();
  });

  test("someone who comes too late is told so, and it is recorded", async () => {
    const records: AuditRecord[] = [];
    const made = await make({ of: 1 }, { audit: (record) => records.push(record) });
    const { app } = made;
    const { id, url } = await start(made);
    // Both have opened the page before anything was decided.
    const digest = digestOn(await (await at(app, url, "cy")).text());
    await send(app, url, "bo", { action: "accept" });
    await outcome(app, id);
    const second = await send(app, url, "cy", { action: "decline", note: "wait", digest });
    expect([second.status, await second.text()]).toEqual([
      200,
      expect.stringContaining("Nothing more is needed."),
    ]);
    expect(records.at(-1)).toMatchObject({
      action: "too_late",
      who: "cy",
      via: "link",
      note: "would have declined: wait",
      tool: "pay",
      principal: "ada",
      message: "Pay $500 to ACME?",
      digest,
    });
    const { length } = records;
    // To look is not to decide, and neither does what the form cannot send, nor someone outside the group.
    await at(app, url, "cy");
    expect((await send(app, url, "cy", { action: "maybe", digest })).status).toBe(413);
    await send(app, url, "di", { action: "accept", digest: "made up" });
    expect(records).toHaveLength(length);
  });

  test("a refusal on the page ends it", async () => {
    const made = await make();
    const { id, url } = await start(made);
    await send(made.app, url, "cy", { action: "decline", note: "no budget" });
    expect(await outcome(made.app, id)).toContain("was declined by cy: no budget (cy)");
  });

  test("is for members who are not the caller, and for nobody if visitors are unknown", async () => {
    const made = await make();
    const { url } = await start(made);
    for (const who of ["ada", "di", "eve"]) {
      const page = await at(made.app, url, who);
      expect(page.status).toBe(403);
      expect(await page.text()).not.toContain("$500");
      expect((await send(made.app, url, who, { action: "accept" })).status).toBe(403);
    }
    const unknown = await make({}, { pages: undefined });
    const { url: open } = await start(unknown);
    expect((await at(unknown.app, open, "bo")).status).toBe(403);
    expect((await send(unknown.app, open, "bo", { action: "accept" })).status).toBe(403);
  });

  test("takes nothing from another site, without an action, or for another wording", async () => {
    const made = await make({ of: 1 });
    const { url } = await start(made);
    const { app } = made;
    const elsewhere = await app.pages(
      new Request(url, {
        method: "POST",
        body: new URLSearchParams({ action: "accept" }),
        headers: { origin: "https://evil.example.com", "x-user": "bo" },
      }),
    );
    expect(elsewhere.status).toBe(403);
    expect((await send(app, url, "bo", { action: "maybe" })).status).toBe(413);
    const changed = await send(app, url, "bo", { action: "accept", digest: "other" });
    expect(changed.status).toBe(422);
    expect(await changed.text()).toContain("The request has changed.");
    expect(await (await at(app, url, "cy")).text()).toContain("0 of 1 person has approved.");
  });
});

test("someone who is not named as callers are does not decide, because it could be the caller", async () => {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const logger = { debug: note, info: note, warn: note, error: note };
  // Without parley({ principal }), callers are named by issuer and subject.
  const verifyAccessToken = async (token: string) => ({
    token,
    clientId: "one-application",
    scopes: [],
    expiresAt: Date.now() / 1000 + 3_600,
    extra: { iss: "https://login.example.com", sub: token },
  });
  let visitor: Visitor = people["ada"]!;
  const pages = { authorize: () => visitor };
  const made = await make(
    { of: 1 },
    {
      ...({ auth: { verifier: { verifyAccessToken } }, principal: undefined } as object),
      pages,
      logger,
    },
  );
  const { ticket, url } = await start(made);
  const told =
    '"ada" cannot be a principal of this app, which names its callers by issuer and subject, such as "https://login.example.com ada". Use that text where the person decides: as principal from authorize, or as who for app.decide. Or name callers otherwise with parley({ principal }).';
  await expect(made.app.decide(ticket, by("ada"))).rejects.toThrow(told);
  const page = await made.app.pages(new Request(url));
  expect([page.status, (await page.text()).includes("$500")]).toEqual([503, false]);
  expect(lines.join("\n")).toContain(told);
  visitor = { principal: "https://login.example.com ada", groups: ["managers"] };
  expect((await made.app.pages(new Request(url))).status).toBe(403);
  const bo = { ...by("bo"), who: "https://login.example.com bo" };
  expect(await made.app.decide(ticket, bo)).toMatchObject({ status: "approved" });
});

test("without a principal, a group cannot approve", async () => {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const logger = { debug: note, info: note, warn: note, error: note };
  const { app } = await make({}, { auth: undefined, principal: undefined, logger });
  const { error } = await callTool(app, "pay", {}, { capabilities });
  expect(error).toMatchObject({ code: -32603 });
  expect(lines.join("\n")).toContain(
    'Approval "pay" asks the group "managers", but this call has no principal, so nobody can be kept from approving their own request. Pass parley({ principal }).',
  );
  expect(lines.join("\n")).not.toContain("ctx was used after");
});
