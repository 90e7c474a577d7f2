// What a provider says is absurd or hostile: lifetimes that mean nothing, and texts that are not for people.

import type { ServerResponse } from "node:http";
import { expect, test, vi } from "vitest";
import { providerError } from "../../src/oauth/provider-error.ts";
import { patience } from "../patience.ts";
import { textIn } from "../wire/post.ts";
import { done, linkIn, served } from "./served.ts";
import type { Tools } from "./served.ts";

const answer = (res: ServerResponse, status: number, body: string) =>
  void res.writeHead(status, { "content-type": "application/json" }).end(body);

/** A tool that says which token it would use. */
const which: Tools = (app, github) => {
  app.tool("which", {}, async (ctx) => {
    const account = await ctx.connect(github);
    return ctx.step("use", async () => `token ${(await account.accessToken()).split("-")[1]}`);
  });
};

test.each(["1e308", "1e999", "-1", "-1e308", '"soon"', '"NaN"', '"-5"', "null", "{}", "[]", "0"])(
  "expires_in: %s neither spoils the tokens nor makes them expire",
  async (absurd) => {
    const made = await served(which);
    let requests = 0;
    /** The lifetime of the first token, which is over at once, and of those that follow. */
    const tokens = (first: string, rest: string) => (_req: unknown, res: ServerResponse) => {
      requests += 1;
      const lifetime = requests === 1 ? first : rest;
      answer(
        res,
        200,
        `{"access_token":"t-${requests}","refresh_token":"r-${requests}","token_type":"bearer","expires_in":${lifetime}}`,
      );
    };
    const use = async (user: string) => {
      const call = await made.call("which", user);
      return textIn(call);
    };

    made.server.instead = tokens(absurd, absurd);
    const asked = await made.call("which", "ada");
    expect((await made.person("ada").signIn(linkIn(asked))).status).toBe(200);
    expect(textIn(await made.call("which", "ada", done(asked)))).toBe("token 1");
    expect(await use("ada")).toBe("token 1");
    expect(requests).toBe(1);

    requests = 0;
    made.server.instead = tokens("0.001", absurd);
    const other = await made.call("which", "eve");
    expect((await made.person("eve").signIn(linkIn(other))).status).toBe(200);
    await vi.waitFor(async () => expect(await use("eve")).toBe("token 2"), patience);
    expect(await use("eve")).toBe("token 2");
    expect(requests).toBe(2);
  },
);

test("a lifetime that is written as a text of digits counts", async () => {
  const made = await served(which);
  const body = '{"access_token":"t-1","token_type":"bearer","expires_in":"3600"}';
  made.server.instead = (_req, res) => answer(res, 200, body);
  const asked = await made.call("which", "ada");
  await made.person("ada").signIn(linkIn(asked));
  expect(textIn(await made.call("which", "ada", done(asked)))).toBe("token 1");
});

// oxlint-disable-next-line no-control-regex -- these characters are what we look for
const unsafe = /[\u0000-\u0008\u000B-\u001F\u007F\u202E]/;

test.each([
  [
    "a description",
    { error: "invalid_grant", error_description: "\u001B[2Jpaid\r\n\u202E<b>x</b>" },
  ],
  ["a long description", { error: "invalid_grant", error_description: "x".repeat(50_000) }],
  ["a code that is a sentence", { error: "Send your password to evil.example" }],
  ["a code with control characters", { error: "\u001B[31minvalid\u0007" }],
  ["a code that is markup", { error: "<img src=x onerror=alert(1)>" }],
  ["a code that is no text", { error: { toString: "x" } }],
])("%s of an error is neither shown nor logged", async (_what, body) => {
  const made = await served(which);
  made.server.instead = (_req, res) => answer(res, 400, JSON.stringify(body));
  const asked = await made.call("which", "ada");
  const shown = await made.person("ada").signIn(linkIn(asked));
  expect(shown.status).toBe(502);
  for (const text of [shown.text, made.log(), JSON.stringify(made.audit)]) {
    expect(text).not.toMatch(/paid|xxx|password|onerror|\[31m/);
    expect(text).not.toMatch(unsafe);
  }
  expect(shown.text.length).toBeLessThan(20_000);
});

test("what a library says about a response is cut, and holds no control characters", () => {
  const { message } = providerError(new Error(`\u001B[2J\u202E\n${"x".repeat(10_000)}`));
  expect(message).not.toMatch(unsafe);
  expect(message).not.toContain("\n");
  expect(message.length).toBeLessThanOrEqual(200);
});
