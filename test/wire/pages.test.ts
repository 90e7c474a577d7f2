// Sending a person to a page: what the URL contains, and when the call continues.

import type { AuthInfo } from "@modelcontextprotocol/server";
import { inputRequired, parley } from "mcp-parley";
import { afterEach, describe, expect, test, vi } from "vitest";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { keys, quiet } from "../interop/errands.ts";
import { callTool, textIn, tokenIn } from "./post.ts";
import type { Answer } from "./post.ts";

afterEach(() => vi.restoreAllMocks());

function signIn(isDone: () => boolean = () => true) {
  const app = parley({ name: "pages", version: "1.0.0", keys, logger: quiet });
  app.tool("sign_in", {}, async (ctx) => {
    await ctx.openUrl("page", "Sign in", (ticket) => `https://example.com/in?state=${ticket}`, {
      until: isDone,
    });
    return "signed in";
  });
  const ada = { token: "t", clientId: "c", scopes: [], extra: { sub: "ada" } } as AuthInfo;
  return { app, to: (request: Request) => app.handle(request, { authInfo: ada }) };
}

function pageIn({ result = {} }: Answer): { readonly message: string; readonly url: string } {
  const { page } = result["inputRequests"] as {
    page: { params: { message: string; url: string } };
  };
  return page.params;
}

const accepted = (requestState: string) => ({
  requestState,
  inputResponses: { page: { action: "accept" } },
});

test.each(["not a url", "/relative", "", "javascript:alert(1)", "file:///etc/passwd"])(
  "%j is not a page: the author gets an error, and the URL is not sent [S41]",
  async (url) => {
    const app = parley({ name: "pages", version: "1.0.0", keys, logger: quiet });
    app.tool("page", {}, async (ctx) => {
      await ctx.openUrl("page", "Go", url);
      return "gone";
    });
    const { error } = await callTool(app, "page");
    expect(error).toMatchObject({ code: -32603, data: { reason: "bad_option" } });
  },
);

test("the low-level form refuses such a URL, too [S41]", async () => {
  const app = parley({ name: "pages", version: "1.0.0", keys, logger: quiet });
  app.tool("page", {}, () => {
    const page = inputRequired.elicitUrl({ message: "Go", url: "not a url" });
    return inputRequired({ inputRequests: { page } });
  });
  expect((await callTool(app, "page")).error).toMatchObject({ data: { reason: "bad_option" } });
});

describe("its ticket", () => {
  test("tells the page which call, which question and which principal it is for [D13]", async () => {
    const { app, to } = signIn();
    const { url } = pageIn(await callTool(to, "sign_in"));
    const ticket = new URL(url).searchParams.get("state") ?? "";
    expect(app.readTicket(ticket)).toEqual({
      kind: "page",
      callId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      key: "page",
      principal: "ada",
      expiresAt: expect.any(Date) as Date,
    });
  });

  test("reveals nothing to a reader of the URL, and cannot be changed [D12] [D13]", async () => {
    const { app, to } = signIn();
    const { url } = pageIn(await callTool(to, "sign_in"));
    const ticket = new URL(url).searchParams.get("state") ?? "";
    expect(ticket).toMatch(/^[\w.-]+$/);
    const inside = Buffer.from(ticket.split(".").at(-1) ?? "", "base64url").toString("latin1");
    expect(inside).not.toMatch(/ada|page|sign_in/);
    const changed = `${ticket.slice(0, -8)}${ticket.at(-8) === "A" ? "B" : "A"}${ticket.slice(-7)}`;
    expect(() => app.readTicket(changed)).toThrow(expect.objectContaining({ code: "bad_ticket" }));
    // A round's token is not a ticket, and a ticket is not a token.
    const token = tokenIn(await callTool(to, "sign_in"));
    expect(() => app.readTicket(token)).toThrow(expect.objectContaining({ code: "bad_ticket" }));
    const { error } = await callTool(to, "sign_in", {}, accepted(ticket));
    expect(error?.code).toBe(-32602);
  });
});

describe("accepting", () => {
  test("accepting means that the page will be opened, and the call continues when it is done", async () => {
    let looked = 0;
    const { to } = signIn(() => (looked += 1) > 2);
    // Timers fire at once.
    vi.spyOn(nodeEnvironment, "after").mockImplementation((_, callback) => {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    });
    const asked = await callTool(to, "sign_in");
    expect(looked).toBe(0);
    const told = await callTool(to, "sign_in", {}, accepted(tokenIn(asked)));
    expect([textIn(told), looked]).toEqual(["signed in", 3]);
  });

  test("accepting without returning within twenty seconds asks the question again, with that reason", async () => {
    const { to } = signIn(() => false);
    let now = Date.now();
    vi.spyOn(nodeEnvironment, "now").mockImplementation(() => now);
    vi.spyOn(nodeEnvironment, "after").mockImplementation((ms, callback) => {
      now += ms;
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    });
    const asked = await callTool(to, "sign_in");
    const began = now;
    const again = await callTool(to, "sign_in", {}, accepted(tokenIn(asked)));
    expect(pageIn(again).message).toBe("Not finished yet: Sign in");
    expect(now - began).toBeLessThanOrEqual(20_000);
  });

  test("any other kind of answer is asked for again, and declining ends the call [S37]", async () => {
    const { to } = signIn();
    const requestState = tokenIn(await callTool(to, "sign_in"));
    const wrong = { requestState, inputResponses: { page: { roots: [] } } };
    expect(pageIn(await callTool(to, "sign_in", {}, wrong)).message).toContain("Sign in");
    const declined = { requestState, inputResponses: { page: { action: "decline" } } };
    expect((await callTool(to, "sign_in", {}, declined)).result).toMatchObject({ isError: true });
  });
});
