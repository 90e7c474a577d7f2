// Signing in elsewhere in a real browser: two people with accounts of their own, over http as in development and over https,
// where the cookie has the `__Host-` prefix. The authorization server is a real one, which also plays GitHub's API.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "mcp-parley";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { starsApp } from "../../examples/connect-github/stars.ts";
import { keys, quiet } from "../interop/errands.ts";
import { authorizationServer } from "../oauth/authorization-server.ts";
import { auth, done, linkIn, pages, principal } from "../oauth/served.ts";
import { callTool, textIn } from "../wire/post.ts";
import { openBrowser } from "./chromium.ts";

let browser: Browser;
beforeAll(async () => void (browser = await openBrowser()));
afterAll(() => browser?.close());

const repository = "mcp-parley/parley";
const headersOf = (name: string) => ({ authorization: `Bearer ${name}` });

/** The example, and the pages of it at an address that a browser can open. */
async function stars(isSecure: boolean) {
  const http: Server = isSecure ? createSecureServer(certificate()) : createServer();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = http.address() as AddressInfo;
  const url = `${isSecure ? "https" : "http"}://127.0.0.1:${port}`;
  const server = await authorizationServer({ redirectUris: [`${url}/oauth/github/callback`] });
  const { issuer, clientId, clientSecret } = server;
  const endpoints = { authorizationEndpoint: `${issuer}/auth`, tokenEndpoint: `${issuer}/token` };
  const { app } = starsApp(
    { ...endpoints, api: `${issuer}/api`, clientId, clientSecret },
    { auth, principal, pages },
    { url, keys, store: memoryStore(), logger: quiet },
  );
  http.on("request", (req, res) => void app.pages.node(req, res));
  onTestFinished(async () => {
    http.closeAllConnections();
    http.close();
    await server.close();
    await app.close();
  });
  /** A browser of its own for each person, who is signed in to the site. */
  const browserOf = async (name: string): Promise<BrowserContext> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    onTestFinished(() => context.close());
    await context.addCookies([{ name: "user", value: name, url }]);
    return context;
  };
  return { app, url, server, browserOf };
}

/** A certificate for this test alone. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), "parley-certificate-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"];
  execFileSync("openssl", [...args, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

describe.each([
  ["https", "__Host-parley-oauth"],
  ["http", "parley-oauth"],
])("over %s", (scheme, cookie) => {
  test("two people star with their own accounts, and the second call asks nobody", async () => {
    const { app, server, browserOf } = await stars(scheme === "https");
    for (const name of ["ada", "bob"]) {
      const headers = headersOf(name);
      const asked = await callTool(app, "star", { repository }, { headers });
      const context = await browserOf(name);
      const page = await context.newPage();
      await page.goto(linkIn(asked));
      await page.getByLabel("Name").fill(`octo-${name}`);
      await page.getByRole("button", { name: "Allow" }).click();
      await page.getByRole("heading", { name: "Connected" }).waitFor();
      // No code stays in the history of the browser.
      expect(page.url()).toBe(linkIn(asked));
      const kept = (await context.cookies()).find((one) => one.name === cookie);
      expect(kept).toMatchObject({ httpOnly: true, sameSite: "Lax", secure: scheme === "https" });
      const starred = await callTool(app, "star", { repository }, { headers, ...done(asked) });
      expect(textIn(starred)).toBe(`octo-${name} has starred ${repository}.`);
      const again = await callTool(app, "star", { repository }, { headers });
      expect(textIn(again)).toBe(`octo-${name} has starred ${repository}.`);
    }
    expect(new Set(server.stars)).toEqual(
      new Set([`octo-ada: ${repository}`, `octo-bob: ${repository}`]),
    );
  });

  test("a second tab does not end what the first one began, and says that it is connected", async () => {
    const { app, browserOf } = await stars(scheme === "https");
    const headers = headersOf("ada");
    const asked = await callTool(app, "star", { repository }, { headers });
    const context = await browserOf("ada");
    const [tab, other] = [await context.newPage(), await context.newPage()];
    await tab.goto(linkIn(asked));
    await other.goto(linkIn(asked));
    await tab.getByLabel("Name").fill("octo");
    await tab.getByRole("button", { name: "Allow" }).click();
    await tab.getByRole("heading", { name: "Connected" }).waitFor();
    await other.getByRole("button", { name: "Deny" }).click();
    await other.getByRole("heading", { name: "Connected" }).waitFor();
    const starred = await callTool(app, "star", { repository }, { headers, ...done(asked) });
    expect(textIn(starred)).toBe(`octo has starred ${repository}.`);
  });

  test("a link that was passed on, and a provider's page that was, lead nowhere", async () => {
    const { app, server, browserOf } = await stars(scheme === "https");
    const asked = await callTool(app, "star", { repository }, { headers: headersOf("eve") });
    const ada = await (await browserOf("ada")).newPage();
    await ada.goto(linkIn(asked));
    await ada.getByRole("heading", { name: "This question is for someone else" }).waitFor();
    const eve = await (await browserOf("eve")).newPage();
    const atProvider = eve.waitForRequest((request) =>
      request.url().startsWith(`${server.issuer}/auth`),
    );
    await eve.goto(linkIn(asked));
    await ada.goto((await atProvider).url());
    await ada.getByLabel("Name").fill("octo-ada");
    await ada.getByRole("button", { name: "Allow" }).click();
    await ada.getByRole("heading", { name: "Not connected" }).waitFor();
    expect(server.grants).toEqual([]);
  });
});
