// A token in the wrong hands, at the wrong time, or with the wrong request. The client always gets the same response, the
// log has the reason, and the handler is not called.

import type { AuthInfo, BearerAuthOptions } from "@modelcontextprotocol/server";
import { afterEach, describe, expect, test, vi } from "vitest";
import { nodeEnvironment } from "../../src/server/ops/environment.ts";
import { accept, callTool, envelope, exchange, textIn, tokenIn } from "./post.ts";
import type { Leg } from "./post.ts";
import { served } from "./served.ts";

const refused = {
  code: -32602,
  message: "Invalid or expired requestState",
  data: { reason: "invalid_request_state" },
};
const sure = { sure: accept() };

afterEach(() => vi.restoreAllMocks());

/** The reasons for refused tokens, from the log. */
const reasons = ({ logged }: Awaited<ReturnType<typeof served>>) =>
  logged
    .filter(({ message }) => message.startsWith("A requestState was refused"))
    .map(({ fields }) => fields?.["reason"]);

interface Misuse {
  readonly name: string;
  readonly tool?: string;
  readonly args?: Record<string, unknown>;
  readonly leg?: (token: string) => Leg;
  readonly reason: RegExp;
}

const misuses: readonly Misuse[] = [
  { name: "other arguments", args: { amount: 5_000 }, reason: /^arguments$/ },
  { name: "one argument more", args: { amount: 5, tip: 1 }, reason: /^arguments$/ },
  { name: "another tool that asks the same", tool: "refund", reason: /^target$/ },
  {
    name: "one bit flipped",
    leg: (token) => ({ requestState: flipped(token) }),
    reason: /^forged$/,
  },
  {
    name: "something appended",
    leg: (token) => ({ requestState: `${token}-TAMPERED` }),
    reason: /^(forged|malformed)$/,
  },
  {
    name: "its end cut off",
    leg: (token) => ({ requestState: token.slice(0, -1) }),
    reason: /^(forged|malformed)$/,
  },
  {
    name: "the id of another key",
    leg: (token) => ({ requestState: token.replace(".interop.", ".other.") }),
    reason: /^unknown_key$/,
  },
  { name: "an empty string", leg: () => ({ requestState: "" }), reason: /^malformed$/ },
  {
    name: "a string that the client made up",
    leg: () => ({ requestState: "step-2" }),
    reason: /^malformed$/,
  },
];

describe("refused tokens", () => {
  test.each(misuses)(
    "a token with $name gets the same error as any other, and nothing runs [S27] [S28] [S29] [S30] [D1] [D2] [D5]",
    async ({ tool = "pay", args = { amount: 5 }, leg, reason }) => {
      const till = await served();
      const token = tokenIn(await callTool(till.to, "pay", { amount: 5 }));
      till.called.length = 0;
      till.ran.length = 0;
      const { status, error } = await callTool(till.to, tool, args, {
        requestState: token,
        inputResponses: sure,
        ...leg?.(token),
      });
      expect([status, error]).toEqual([200, refused]);
      expect([till.called, till.ran]).toEqual([[], []]);
      expect(reasons(till)).toEqual([expect.stringMatching(reason)]);
    },
  );

  test.each([5, null, { v1: true }, ["v1"]])(
    "a token that is not a string is refused: %j [S27]",
    async (requestState) => {
      const { to, called } = await served();
      const { error } = await callTool(to, "pay", { amount: 5 }, { requestState });
      expect(error).toEqual(refused);
      expect(called).toEqual([]);
    },
  );

  test("a token is refused after its eleven minutes, and not before [S30] [D2]", async () => {
    const till = await served();
    const began = Date.now();
    const token = tokenIn(await callTool(till.to, "pay", { amount: 5 }));
    const leg = { requestState: token, inputResponses: sure };
    const clock = vi.spyOn(nodeEnvironment, "now");
    clock.mockImplementation(() => began + 11 * 60_000 - 1);
    expect(textIn(await callTool(till.to, "pay", { amount: 5 }, leg))).toBe("nobody paid 5");
    till.called.length = 0;
    clock.mockImplementation(() => Date.now() + 11 * 60_000);
    expect((await callTool(till.to, "pay", { amount: 5 }, leg)).error).toEqual(refused);
    expect(till.called).toEqual([]);
    expect(reasons(till)).toEqual(["expired"]);
  });

  test("a token is refused by a server with another name, or with other keys [D1]", async () => {
    const token = tokenIn(await callTool((await served()).to, "pay", { amount: 5 }));
    const leg = { requestState: token, inputResponses: sure };
    for (const options of [{ name: "another" }, { keys: `interop:${"A".repeat(43)}` }]) {
      const other = await served(options);
      expect((await callTool(other.to, "pay", { amount: 5 }, leg)).error).toEqual(refused);
      expect(other.called).toEqual([]);
    }
  });

  test("a token is refused on a prompt with other arguments and on another resource [S30]", async () => {
    const till = await served();
    const letter = { name: "letter", arguments: { tone: "stern" } };
    const prompt = tokenIn(await exchange(till.to, envelope("prompts/get", letter)));
    const page = { uri: "diary://days/monday" };
    const resource = tokenIn(await exchange(till.to, envelope("resources/read", page)));
    till.called.length = 0;
    const misused = [
      envelope("prompts/get", { ...letter, arguments: { tone: "kind" }, requestState: prompt }),
      envelope("resources/read", { uri: "diary://days/tuesday", requestState: resource }),
      envelope("resources/read", { uri: "diary://today", requestState: resource }),
      envelope("resources/read", { ...page, requestState: prompt }),
      envelope("tools/call", { name: "by_hand", arguments: {}, requestState: resource }),
    ];
    for (const request of misused) {
      expect((await exchange(till.to, request)).error).toEqual(refused);
    }
    expect(till.called).toEqual([]);
  });
});

describe("a token of one principal", () => {
  const auth: BearerAuthOptions = {
    verifier: {
      verifyAccessToken: async (token) => ({
        token,
        // All of them use the same application, which says nothing about who is calling.
        clientId: "an-application",
        scopes: [],
        expiresAt: Date.now() / 1000 + 3_600,
        extra: { iss: "https://id.example", sub: token },
      }),
    },
  };
  const principal = ({ extra }: AuthInfo) => String(extra?.["sub"]);
  const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } });

  test("a token is not valid for another principal, even if both use the same application [S30] [D2] [D10] [D15]", async () => {
    const till = await served({ auth, principal });
    const token = tokenIn(await callTool(till.to, "pay", { amount: 5 }, as("ada")));
    const leg = { requestState: token, inputResponses: sure };
    till.called.length = 0;
    expect((await callTool(till.to, "pay", { amount: 5 }, { ...leg, ...as("eve") })).error).toEqual(
      refused,
    );
    expect(till.called).toEqual([]);
    expect(reasons(till)).toEqual(["principal"]);
    const paid = await callTool(till.to, "pay", { amount: 5 }, { ...leg, ...as("ada") });
    expect(textIn(paid)).toBe("ada paid 5");
  });

  test("a token is not valid for an anonymous caller, nor the reverse [D10]", async () => {
    const locked = await served({ auth, principal });
    const open = await served();
    const adas = tokenIn(await callTool(locked.to, "pay", { amount: 5 }, as("ada")));
    const nobodys = tokenIn(await callTool(open.to, "pay", { amount: 5 }));
    const withAdas = { requestState: adas, inputResponses: sure };
    const withNobodys = { requestState: nobodys, inputResponses: sure, ...as("ada") };
    expect((await callTool(open.to, "pay", { amount: 5 }, withAdas)).error).toEqual(refused);
    expect((await callTool(locked.to, "pay", { amount: 5 }, withNobodys)).error).toEqual(refused);
  });
});

test("tokens, answers and credentials never reach the log [D25]", async () => {
  const till = await served();
  const asked = await callTool(till.to, "form_then_sample");
  const requestState = tokenIn(asked);
  const inputResponses = { name: accept({ name: "Ada-the-secret" }) };
  await callTool(till.to, "form_then_sample", {}, { requestState, inputResponses });
  await callTool(
    till.to,
    "form_then_sample",
    {},
    { requestState: flipped(requestState), inputResponses },
  );
  await callTool(till.to, "free", {}, { requestState, inputResponses });
  await exchange(till.to, envelope("tools/call", { name: "free", requestState }), {
    headers: { "mcp-name": "another", authorization: "Bearer hush" },
  });
  const log = JSON.stringify(till.logged);
  expect(log).toContain("A requestState was refused");
  expect(log).not.toContain("Ada-the-secret");
  expect(log).not.toContain("hush");
  expect(log).not.toContain(requestState.slice(-40, -5));
});

/** Flips one bit of the sealed part, near its middle. */
function flipped(token: string): string {
  const dot = token.lastIndexOf(".") + 1;
  const bytes = Buffer.from(token.slice(dot), "base64url");
  const middle = Math.floor(bytes.length / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  return token.slice(0, dot) + bytes.toString("base64url");
}
