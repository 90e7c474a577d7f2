// The draft behind the fast entry. Requests of the draft are handed over, however much they look like 2026-07-28, and
// requests of 2026-07-28 are served by the fast entry, however much they look like the draft.

import { expect, onTestFinished, test } from "vitest";
import { drafts } from "mcp-parley/drafts";
import { authenticated, everything } from "../differential/app.ts";
import { comparable, isFast } from "../differential/compare.ts";
import { sent } from "../differential/raw.ts";
import type { Sent } from "../differential/raw.ts";
import { draftOf, finished, task, tool, usualHeaders } from "../differential/requests.ts";
import { draftVersion, everything as canDoAll } from "./peer.ts";

const portOf = ({ url }: { url: string }) => Number(new URL(url).port);

/** One app that speaks the draft, behind both entries. */
async function served(options = {}) {
  const app = everything({ drafts: drafts(), ...options });
  onTestFinished(() => app.close());
  const [fast, sdk] = await Promise.all([app.listen(0), app.listen(0, { fast: false })]);
  return { fast: portOf(fast), sdk: portOf(sdk) };
}

type Headers = [name: string, value: string][];

const bytes = (message: object, headers: Headers): Sent => ({
  verb: "POST",
  target: "/mcp",
  version: "1.1",
  headers: [...usualHeaders, ...headers],
  body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
});

const session = `draft.${Buffer.from(JSON.stringify({ capabilities: canDoAll })).toString("base64url")}`;
const ofTheDraft: Headers = [
  ["mcp-protocol-version", draftVersion],
  ["mcp-session-id", session],
];

/** The members and headers of a 2026-07-28 request that the draft does not use. */
const looks = (method: string, name: string): Headers => [
  ["mcp-method", method],
  ["mcp-name", name],
];
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": canDoAll,
};

const requests: [string, Readonly<Record<string, unknown>>, string][] = [
  ["tools/call", { name: "echo", arguments: { text: "a" } }, "echo"],
  ["tools/call", { name: "ask", arguments: { text: "a" } }, "ask"],
  ["tools/call", { name: "state_alone" }, "state_alone"],
  ["tools/call", { name: "task", task: {} }, "task"],
  ["tools/call", { name: "throws" }, "throws"],
  ["prompts/get", { name: "asking" }, "asking"],
  ["resources/read", { uri: "asking://it" }, "asking://it"],
  ["tasks/get", { taskId: "nobody's" }, "nobody's"],
  ["tasks/cancel", { taskId: "nobody's" }, "nobody's"],
];

test.each(requests)(
  "%s %j of the draft is handed over to the SDK entry",
  async (method, params, name) => {
    const ports = await served();
    for (const request of [
      bytes({ method, params }, ofTheDraft),
      bytes({ method, params }, [...ofTheDraft, ...looks(method, name)]),
      bytes({ method, params: { ...params, _meta } }, [...ofTheDraft, ...looks(method, name)]),
    ]) {
      const [fast, sdk] = [await sent(ports.fast, request), await sent(ports.sdk, request)];
      expect(isFast(fast)).toBe(false);
      expect(comparable(fast)).toEqual(comparable(sdk));
      expect(comparable(fast)).toMatchObject({ status: 200, body: { id: 1 } });
      expect(JSON.stringify(fast)).not.toContain("resultType");
    }
  },
);

test("a client that opens with the draft is handed over, whatever its headers say", async () => {
  const ports = await served();
  const params = { protocolVersion: draftVersion, capabilities: canDoAll };
  for (const headers of [
    [],
    looks("initialize", "echo"),
    [["mcp-protocol-version", "2026-07-28"], ...looks("tools/call", "echo")] as Headers,
  ]) {
    const request = bytes({ method: "initialize", params }, headers);
    const [fast, sdk] = [await sent(ports.fast, request), await sent(ports.sdk, request)];
    expect(comparable(fast)).toEqual(comparable(sdk));
    expect(comparable(fast)).toMatchObject({
      status: 200,
      body: { result: { protocolVersion: draftVersion } },
    });
  }
});

test("a caller that must be verified is verified there", async () => {
  const ports = await served(authenticated());
  const call = { method: "tools/call", params: { name: "bare" } };
  const headers: Headers = [...ofTheDraft, ...looks("tools/call", "bare")];
  const nobody = await sent(ports.fast, bytes(call, headers));
  expect(comparable(nobody)).toMatchObject({ status: 401 });
  const ada = bytes(call, [...headers, ["authorization", "Bearer ada"]]);
  expect(comparable(await sent(ports.fast, ada))).toMatchObject({ status: 200 });
});

test("the fast entry still serves 2026-07-28, with a session of the draft or a request for a task", async () => {
  const ports = await served();
  const wish = { ...tool("maybe_a_task"), params: { name: "maybe_a_task", task: { ttl: 5 } } };
  for (const [request, isServedThere] of [
    [tool("echo", { text: "a" }), true],
    [task("get", { taskId: "nobody's" }), true],
    // The SDK ignores a member that 2026-07-28 does not know.
    [wish, false],
  ] as const) {
    const final = draftOf(request);
    final.headers.push(["mcp-session-id", session]);
    const [fast, sdk] = [
      await sent(ports.fast, finished(final)),
      await sent(ports.sdk, finished(final)),
    ];
    expect(isFast(fast)).toBe(isServedThere);
    expect(comparable(fast)).toEqual(comparable(sdk));
    expect(JSON.stringify(fast)).not.toContain('"task":');
  }
});
