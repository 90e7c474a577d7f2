// Who owns a task. For any other caller it does not exist, byte for byte.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { OAuthError, OAuthErrorCode } from "@modelcontextprotocol/server";
import { ParleyError } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryStore } from "../../src/tasks/stores/memory.ts";
import { oven } from "./oven.ts";
import { accept, envelope, messagesIn, post, tokenIn } from "./post.ts";
import type { Message, Sending, To } from "./post.ts";
import { ask, begun, call, follows, listen, ovenHere, textOf, until } from "./task-calls.ts";

const auth: BearerAuthOptions = {
  verifier: {
    verifyAccessToken: async (token) => {
      if (!["ada", "eve"].includes(token)) {
        throw new OAuthError(OAuthErrorCode.InvalidToken, "unknown token");
      }
      const expiresAt = Date.now() / 1000 + 3_600;
      return { token, clientId: "one-application", scopes: [], expiresAt, extra: { sub: token } };
    },
  },
};
const principal = ({ extra }: AuthInfo) => extra?.["sub"] as string;
const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } });

const guarded = () => ovenHere({ auth, principal });

/** The whole response, unchanged: status, headers and bytes. */
async function raw(to: To, message: Message, sending: Sending): Promise<string> {
  const response = await post(to, message, sending);
  const headers = [...response.headers].filter(([name]) => name !== "date");
  return JSON.stringify([response.status, headers, await response.text()]);
}

const methods = ["tasks/get", "tasks/update", "tasks/cancel"] as const;
const unknown = "AAAAAAAAAAAAAAAAAAAAAA";

describe("another user", () => {
  test.each(methods)(
    "gets the same response for %s as for a task that never existed, in every state of it [D8] [D9] [D10]",
    async (method) => {
      const { to, store } = await guarded();
      const asked = (taskId: string) =>
        raw(
          to,
          envelope(
            method,
            { taskId, inputResponses: { one: accept({ one: "eves" }) } },
            { capabilities: follows },
          ),
          as("eve"),
        );
      const nothing = await asked(unknown);
      expect(nothing).toContain("No such task");
      const asking = await begun(to, "two", {}, as("ada"));
      await until(to, asking, "input_required", as("ada"));
      const done = await begun(to, "weigh", {}, as("ada"));
      await until(to, done, "completed", as("ada"));
      const cancelled = await begun(to, "two", {}, as("ada"));
      await ask(to, "tasks/cancel", cancelled, as("ada"));
      const failed = await begun(to, "short", {}, as("ada"));
      await until(to, failed, "failed", as("ada"));
      for (const id of [asking, done, cancelled, failed]) {
        const before = await store.read(id);
        expect((await asked(id)).replaceAll(id, unknown)).toBe(nothing);
        expect(await store.read(id)).toEqual(before);
      }
      // The owner gets the task.
      const own = await ask(to, "tasks/get", asking, as("ada"));
      expect(own.result).toMatchObject({ status: "input_required" });
    },
  );

  test("cannot distinguish a deleted task from one that never existed [D9]", async () => {
    const clock = { now: Date.now() };
    const store = new MemoryStore({ now: () => clock.now });
    const { to } = await ovenHere({ auth, principal, store });
    const task = await begun(to, "weigh", {}, as("ada"));
    await until(to, task, "completed", as("ada"));
    clock.now += 8 * 24 * 3_600_000;
    await store.sweep(100, 3_600_000);
    const own = await ask(to, "tasks/get", task, as("ada"));
    expect(own.error?.data).toEqual({ reason: "task_expired" });
    const foreign = await ask(to, "tasks/get", task, as("eve"));
    expect(foreign.error?.data).toEqual({ reason: "unknown_task" });
  });

  test("learns no more from a subscription than for a task that never existed [D8] [D9] [G27]", async () => {
    const { to } = await guarded();
    const task = await begun(to, "two", {}, as("ada"));
    await until(to, task, "input_required", as("ada"));
    const heard = (taskIds: string[]) =>
      raw(
        to,
        envelope("subscriptions/listen", { notifications: { taskIds } }, { capabilities: follows }),
        as("eve"),
      );
    expect(await heard([task])).toBe(await heard([unknown]));
    const own = await listen(to, { taskIds: [task] }, as("ada"));
    expect((await own.next())?.params).toMatchObject({ notifications: { taskIds: [task] } });
    await own.hangUp();
  });

  test("receives only its own tasks in a subscription to mixed ones [D8]", async () => {
    const { to } = await guarded();
    const adas = await begun(to, "two", {}, as("ada"));
    const eves = await begun(to, "weigh", {}, as("eve"));
    const stream = await listen(to, { taskIds: [adas, eves] }, as("eve"));
    const heard = await stream.rest();
    expect(heard[0]?.params["notifications"]).toStrictEqual({ taskIds: [eves] });
    expect(JSON.stringify(heard)).not.toContain(adas);
  });

  test("cannot continue from the token of a call, nor create its task [D8] [D10]", async () => {
    const { to, store } = await guarded();
    const asked = await call(to, "order", { loaf: "rye" }, as("ada"));
    const leg = { requestState: tokenIn(asked), inputResponses: { sure: accept() } };
    const { error } = await call(to, "order", { loaf: "rye" }, { ...leg, ...as("eve") });
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_request_state" } });
    expect((await store.figures()).live).toBe(0);
  });

  test("does not count towards the first user's limit [D23]", async () => {
    const { to } = await ovenHere({ auth, principal, limits: { tasksPerPrincipal: 1 } });
    await begun(to, "two", {}, as("ada"));
    expect((await call(to, "two", {}, as("ada"))).error?.data).toEqual({
      reason: "too_many_tasks",
    });
    await begun(to, "two", {}, as("eve"));
  });

  test("without credentials is refused everywhere, and learns nothing [D8] [D10]", async () => {
    const { to } = await guarded();
    const task = await begun(to, "two", {}, as("ada"));
    for (const method of [...methods, "subscriptions/listen"]) {
      const message = envelope(method, { taskId: task, notifications: { taskIds: [task] } });
      const [one, other] = [
        await raw(to, message, {}),
        await raw(to, message, { headers: { authorization: "Bearer mallory" } }),
      ];
      expect([one, other].map((answer) => answer.slice(0, 4))).toEqual(["[401", "[401"]);
    }
  });
});

describe("an anonymous caller", () => {
  /** A host that verifies some of its callers. */
  const host =
    ({ app }: Awaited<ReturnType<typeof ovenHere>>, user?: string): To =>
    (request) =>
      app.handle(
        request,
        user === undefined
          ? {}
          : { authInfo: { token: "t", clientId: "c", scopes: [], extra: { sub: user } } },
      );

  test.each([
    ["an anonymous caller and a verified owner", "ada", undefined],
    ["a verified caller and an anonymous owner", undefined, "ada"],
    ["a caller with a blank name and an anonymous owner", undefined, " "],
  ])("does not share tasks with a verified caller: %s [D8] [D9] [G38]", async (_, owner, other) => {
    const made = await ovenHere();
    const task = await begun(host(made, owner), "two");
    await until(host(made, owner), task, "input_required");
    for (const method of methods) {
      const asked = (taskId: string) =>
        raw(
          host(made, other),
          envelope(method, { taskId, inputResponses: {} }, { capabilities: follows }),
          {},
        );
      expect(await asked(task)).toBe(await asked(unknown));
    }
    const stream = await listen(host(made, other), { taskIds: [task] });
    expect((await stream.next())?.params["notifications"]).toEqual({});
    expect((await ask(host(made, owner), "tasks/get", task)).result).toMatchObject({
      status: "input_required",
    });
  });

  test("is every caller without credentials, for whom the id alone is enough [G38]", async () => {
    const { to } = await ovenHere();
    const task = await begun(to, "two");
    expect((await ask(to, "tasks/get", task, { headers: as("eve").headers })).result).toMatchObject(
      {
        taskId: task,
      },
    );
  });
});

describe("the same store behind another server", () => {
  test.each([
    ["name", { name: "another-oven" }],
    ["key", { keys: "other:AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }],
  ])(
    "a server with another %s does not see the first one's tasks, and logs why [D8] [D9]",
    async (_, own) => {
      const { to, store } = await ovenHere();
      const task = await begun(to, "two");
      await until(to, task, "input_required");
      const other = oven({ ...own, store });
      onTestFinished(() => other.app.close());
      for (const method of methods) {
        const asked = (id: string) => ask(other.app, method, id, { inputResponses: {} });
        expect((await asked(task)).error).toEqual((await asked(unknown)).error);
      }
      // The acknowledgement comes before anything is opened. Then nothing is sent.
      const stream = await listen(other.app, { taskIds: [task] });
      const [, ...rest] = await stream.rest();
      expect(rest.map(({ method }) => method)).toEqual([undefined]);
      expect(other.logged.map(({ message }) => message).join()).toContain("could not be opened");
    },
  );
});

describe("a ticket", () => {
  async function waiting() {
    const made = await guarded();
    const task = await begun(made.to, "approve", {}, as("ada"));
    await expect.poll(() => made.tickets).toHaveLength(1);
    return { ...made, task, ticket: made.tickets[0]! };
  }

  test("names its principal, so that a page can notice another visitor [D8] [D13]", async () => {
    const { app, ticket, to, task } = await waiting();
    /** The check that an application writes, because the application decides who may answer. */
    const page = async (user: string) =>
      app.readTicket(ticket).principal === user
        ? app.deliver(ticket, { ok: true })
        : "this page is not for you";
    expect(await page("eve")).toBe("this page is not for you");
    expect((await ask(to, "tasks/get", task, as("ada"))).result).toMatchObject({
      status: "working",
    });
    expect(await page("ada")).toEqual({ status: "delivered" });
    expect(textOf(await until(to, task, "completed", as("ada")))).toBe("approved");
  });

  test("is not a task id, a token or an answer, and opens nothing on the wire [D8] [D16]", async () => {
    const { ticket, to, task } = await waiting();
    for (const user of ["ada", "eve"]) {
      expect((await ask(to, "tasks/get", ticket, as(user))).error?.code).toBe(-32602);
      const leg = { requestState: ticket, ...as(user) };
      expect((await call(to, "approve", {}, leg)).error?.code).toBe(-32602);
    }
    // The caller cannot answer what another person has to deliver, either.
    const inputResponses = { boss: accept({ ok: true }), "~early-boss": accept({ ok: true }) };
    const ack = await ask(to, "tasks/update", task, { inputResponses, ...as("ada") });
    expect(ack.result).toMatchObject({ resultType: "complete" });
    const after = await ask(to, "tasks/get", task, as("ada"));
    expect(after.result).toMatchObject({ status: "working" });
    expect(after.result).not.toHaveProperty("inputRequests");
  });

  test("a ticket of a page delivers nothing, and a changed ticket opens nothing [D13]", async () => {
    const made = await guarded();
    const task = await begun(made.to, "every_kind", {}, as("ada"));
    await until(made.to, task, "input_required", as("ada"));
    const [page = ""] = made.tickets;
    expect(made.app.readTicket(page)).toMatchObject({ key: "page", principal: "ada" });
    await expect(made.app.deliver(page, { ok: true })).rejects.toThrow(ParleyError);
    for (const at of [0, 10, page.length - 2]) {
      const changed = `${page.slice(0, at)}${page[at] === "A" ? "B" : "A"}${page.slice(at + 1)}`;
      expect(() => made.app.readTicket(changed)).toThrow(ParleyError);
      await expect(made.app.deliver(changed, 1)).rejects.toThrow(ParleyError);
    }
  });

  test("a ticket and the address of its page are shown to its owner alone [D8]", async () => {
    const made = await guarded();
    const task = await begun(made.to, "every_kind", {}, as("ada"));
    const asked = await until(made.to, task, "input_required", as("ada"));
    expect(JSON.stringify(asked)).toContain("https://example.com/in?state=");
    const foreign = await raw(
      made.to,
      envelope("tasks/get", { taskId: task }, { capabilities: follows }),
      as("eve"),
    );
    expect(foreign).not.toContain("example.com");
  });
});

describe("2025-11-25", () => {
  /** A session of this user, and its responses. */
  async function session(to: To, user: string) {
    const send = async (message: object, id?: string): Promise<[Response, string]> => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
        ...as(user).headers,
        ...(id === undefined ? {} : { "mcp-session-id": id }),
      };
      const request = new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      });
      if (typeof to === "string" || typeof to === "function") throw new Error("to an app");
      const response = await to.fetch(request);
      return [response, await response.text()];
    };
    const [opened] = await send({
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { elicitation: {} },
        clientInfo: { name: "by hand", version: "1.0.0" },
      },
    });
    const id = opened.headers.get("mcp-session-id") ?? "";
    return async (method: string, params: object) => {
      const [, text] = await send({ id: 2, method, params }, id);
      return { text, message: messagesIn(text)[0] };
    };
  }

  test("its methods also show and list a task only to its owner [D8] [D9] [E2.1]", async () => {
    const { to } = await guarded();
    const [ada, eve] = [await session(to, "ada"), await session(to, "eve")];
    const made = await ada("tools/call", { name: "two", arguments: {}, task: {} });
    const { taskId } = (made.message!.result as { task: { taskId: string } }).task;
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      const foreign = await eve(method, { taskId });
      const none = await eve(method, { taskId: unknown });
      expect(foreign.text).toBe(none.text);
      expect(none.message?.error?.code).toBe(-32602);
    }
    expect((await eve("tasks/list", {})).message?.result).toMatchObject({ tasks: [] });
    expect((await ada("tasks/list", {})).message?.result).toMatchObject({ tasks: [{ taskId }] });
  });
});

test("ids and answers of a task are not logged in full [D25]", async () => {
  const { to, logged } = await guarded();
  const task = await begun(to, "fussy", {}, as("ada"));
  await until(to, task, "input_required", as("ada"));
  await ask(to, "tasks/update", task, {
    inputResponses: { age: accept({ age: "a-secret-age" }) },
    ...as("ada"),
  });
  await until(to, task, ({ inputRequests = {} }) => "age~2" in inputRequests, as("ada"));
  await ask(to, "tasks/get", task, as("eve"));
  expect(JSON.stringify(logged)).not.toMatch(new RegExp(`${task}|a-secret-age`));
});

describe("one user's subscriptions", () => {
  const refusal = {
    code: -32603,
    message: expect.stringContaining("this caller already has 2 open") as string,
  };

  test.each([
    ["tasks", (task: string) => ({ taskIds: [task] })],
    ["changes of lists", () => ({ toolsListChanged: true })],
  ])("to %s are limited, and leave room for another user's [D23]", async (_, filter) => {
    const limits = { subscriptionsPerPrincipal: 2 };
    const { to } = await ovenHere({ auth, principal, limits });
    const open = async (user: string, id: number) => {
      const task = await begun(to, "two", {}, as(user));
      return listen(to, filter(task), { id, ...as(user) });
    };
    const streams = [await open("ada", 1), await open("ada", 2)];
    const notifications = filter(await begun(to, "two", {}, as("ada")));
    const message = envelope("subscriptions/listen", { notifications }, { capabilities: follows });
    const refused = await post(to, message, as("ada"));
    expect(refused.headers.get("content-type")).toContain("json");
    expect(await refused.json()).toMatchObject({ error: refusal });
    const eves = await open("eve", 4);
    expect((await eves.next())?.method).toContain("acknowledged");
    await streams[0]?.hangUp();
    const next = await open("ada", 5);
    expect((await next.next())?.method).toContain("acknowledged");
  });
});
