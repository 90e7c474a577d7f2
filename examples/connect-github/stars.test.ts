// The example against a real authorization server, which also plays GitHub's API, with two people.

import { memoryStore } from "mcp-parley";
import { declined, play } from "mcp-parley/testing";
import { expect, onTestFinished, test } from "vitest";
import { authorizationServer } from "../../test/oauth/authorization-server.ts";
import { Person } from "../../test/oauth/person.ts";
import { auth, done, linkIn, pages, principal } from "../../test/oauth/served.ts";
import { keys, quiet } from "../../test/interop/errands.ts";
import { callTool, textIn } from "../../test/wire/post.ts";
import { starsApp } from "./stars.ts";

const users = { auth, principal, pages };
const repository = "mcp-parley/parley";

test("two people star with their own accounts", async () => {
  const url = "https://stars.example";
  const server = await authorizationServer({ redirectUris: [`${url}/oauth/github/callback`] });
  onTestFinished(() => server.close());
  const { issuer, clientId, clientSecret } = server;
  const endpoints = { authorizationEndpoint: `${issuer}/auth`, tokenEndpoint: `${issuer}/token` };
  const github = { ...endpoints, api: `${issuer}/api`, clientId, clientSecret };
  const { app } = starsApp(github, users, { url, keys, store: memoryStore(), logger: quiet });
  onTestFinished(() => app.close());
  for (const name of ["ada", "bob"]) {
    const headers = { authorization: `Bearer ${name}` };
    const person = new Person(name, (request) =>
      request.url.startsWith(url) ? app.pages(request) : undefined,
    );
    person.cookies.set("stars.example", new Map([["user", name]]));
    const asked = await callTool(app, "star", { repository }, { headers });
    expect((await person.signIn(linkIn(asked), { as: `octo-${name}` })).text).toContain(
      "Connected",
    );
    const starred = await callTool(app, "star", { repository }, { headers, ...done(asked) });
    expect(textIn(starred)).toBe(`octo-${name} has starred ${repository}.`);
  }
  expect(server.stars).toEqual([`octo-ada: ${repository}`, `octo-bob: ${repository}`]);
});

// #region play
test("a call without an account asks for one", async () => {
  const { star } = starsApp(nowhere, users, {});
  const call = await play(star, { repository }, { github: declined });
  expect(call.asked).toMatchObject([{ key: "github", kind: "connect" }]);
  expect(call.text).toBe('Question "github" was declined.');
});

test("a call with an account uses its token", async () => {
  const { star } = starsApp(nowhere, users, {});
  const call = await play(star, { repository }, {}, { accounts: { github: "a token" } });
  expect(call.asked).toEqual([]);
  expect(call.ran("star")).toBe(1);
});
// #endregion

/** Nothing listens here. */
const nowhere = {
  authorizationEndpoint: "http://127.0.0.1:1/auth",
  tokenEndpoint: "http://127.0.0.1:1/token",
  api: "http://127.0.0.1:1/api",
  clientId: "id",
  clientSecret: "secret",
};
