// Without the plug-in there is no draft, and with it nothing changes for peers that have not agreed to the draft.

import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { drafts } from "mcp-parley/drafts";
import type { Drafts } from "mcp-parley/drafts";
import { everything } from "../differential/app.ts";
import { comparable } from "../differential/compare.ts";
import { mutations } from "../differential/mutations.ts";
import { sent } from "../differential/raw.ts";
import { draftOf, finished, task, tool } from "../differential/requests.ts";
import { oven } from "../wire/oven.ts";
import { envelope, exchange, post } from "../wire/post.ts";
import { started } from "../wire/stdio-process.ts";
import { follows } from "../wire/task-calls.ts";
import { till } from "../wire/till.ts";
import { draftVersion, postDraft } from "./peer.ts";

const opening = (protocolVersion: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } },
});

function app(options: { readonly drafts?: Drafts | undefined } = {}): App {
  const made = till(options).app;
  onTestFinished(() => made.close());
  return made;
}

test.each([
  ["left out", {}],
  ["undefined", { drafts: undefined }],
] as const)(
  "with drafts %s, a client that opens with the draft is treated like one with an unknown version",
  async (_, options) => {
    const to = app(options);
    const bare = { "mcp-protocol-version": undefined };
    const one = await postDraft(to, opening(draftVersion), bare);
    const other = await postDraft(to, opening("1999-01-01"), bare);
    expect(one.text).toBe(other.text);
    expect(one.text).toContain('"protocolVersion":"2025-11-25"');
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "free" } };
    const { status, text } = await postDraft(to, call);
    expect(status).toBe(400);
    expect(text).toBe((await postDraft(to, call)).text);
    expect(text).toContain("Unsupported protocol version: 2026-06-XX");
  },
);

test.each([true, false, {}, "2026-06-XX"])(
  "drafts: %j is not the plug-in, and the message says so",
  (given) => {
    // @ts-expect-error -- for JavaScript
    expect(() => parley({ name: "till", version: "1.0.0", drafts: given })).toThrow(
      new TypeError(
        'drafts is a plug-in: import { drafts } from "mcp-parley/drafts" and pass drafts: drafts().',
      ),
    );
  },
);

test("a client over stdio that opens with the draft is treated the same way", async () => {
  const { send, next } = started(new URL("stdio-server.ts", import.meta.url), {
    env: { DRAFTS: "off" },
  });
  send(opening(draftVersion));
  expect((await next()).result).toMatchObject({ protocolVersion: "2025-11-25" });
});

test("with drafts, a client that did not agree to the draft gets the same bytes as without", async () => {
  const bare = { "mcp-protocol-version": undefined };
  const legacy = { "mcp-protocol-version": "2025-11-25" };
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const exchanges: ((to: App) => Promise<{ status: number; text: string }>)[] = [
    ...["server/discover", "tools/list", "no/such", "tasks/result", "tasks/input_response"].map(
      (method) => (to: App) => read(post(to, envelope(method))),
    ),
    (to) => read(post(to, envelope("tools/call", { name: "free" }))),
    (to) => read(post(to, envelope("tools/call", { name: "free", task: { ttl: 1 } }))),
    (to) => read(post(to, envelope("tools/list"), { headers: { "mcp-protocol-version": "x" } })),
    (to) => postDraft(to, opening("2025-11-25"), bare),
    (to) => postDraft(to, list, legacy),
    (to) => postDraft(to, list, { ...legacy, "mcp-session-id": "draft.e30" }),
    (to) => postDraft(to, "no json", bare),
    (to) => read(to.fetch(new Request("http://127.0.0.1/mcp"))),
  ];
  const [on, off] = [app({ drafts: drafts() }), app()];
  for (const send of exchanges) {
    const [one, other] = [await send(on), await send(off)];
    expect([one.status, one.text]).toEqual([other.status, other.text]);
  }
});

test.each([true, false])(
  "with drafts, every request of 2026-07-28 gets the same bytes as without, broken in every way (fast entry: %s)",
  async (fast) => {
    const apps = [everything({ drafts: drafts() }), everything()] as const;
    const portOf = async (one: App) => Number(new URL((await one.listen(0, { fast })).url).port);
    const [on, off] = await Promise.all([portOf(apps[0]), portOf(apps[1])]);
    onTestFinished(() => Promise.all(apps.map((one) => one.close())).then(() => {}));
    const asItIs = { name: "as it is", apply: () => {} };
    const tried = broken.flatMap((request) =>
      [asItIs, ...ended].map((change) => {
        const draft = draftOf(request);
        change.apply(draft);
        return { what: `${request.name}, ${change.name}`, bytes: finished(draft) };
      }),
    );
    const differing: unknown[] = [];
    for (let at = 0; at < tried.length; at += 16) {
      await Promise.all(
        tried.slice(at, at + 16).map(async ({ what, bytes }) => {
          const [one, other] = await Promise.all([sent(on, bytes), sent(off, bytes)]);
          if (!isDeepStrictEqual(comparable(one), comparable(other))) differing.push(what);
        }),
      );
    }
    expect(tried.length).toBeGreaterThan(400);
    expect(differing).toEqual([]);
  },
  120_000,
);

/** Without the mutation that makes both entries wait for the rest of the body. */
const ended = mutations.filter(({ name }) => name !== "header content-length: 999999999");

const broken = [
  tool("ask", { text: "a" }),
  task("update", { taskId: "nobody's", inputResponses: {} }),
  { name: "tools/list", method: "tools/list", params: {} },
];

async function read(coming: Promise<Response>): Promise<{ status: number; text: string }> {
  const response = await coming;
  return { status: response.status, text: await response.text() };
}

test("in 2026-07-28 nothing is inferred from the shape of a message", async () => {
  const { app: to } = oven({ drafts: drafts() });
  await to.work();
  onTestFinished(() => to.close());
  // `task` has no effect for a client that does not declare that it can follow tasks.
  const bake = { name: "bake", arguments: { loaf: "rye" }, task: { ttl: 5_000 } };
  const inline = await exchange(to, envelope("tools/call", bake));
  expect(inline.result).toMatchObject({ resultType: "input_required" });
  // For a client that declares it, the `ttl` in `task` has no effect.
  const two = { name: "two", task: { ttl: 5_000 } };
  const { result } = await exchange(to, envelope("tools/call", two, { capabilities: follows }));
  expect(result).toMatchObject({ resultType: "task", ttlMs: 7 * 24 * 3_600_000 });
  for (const method of ["tasks/result", "tasks/input_response"]) {
    const { error } = await exchange(
      to,
      envelope(method, { taskId: result?.["taskId"] }, { capabilities: follows }),
    );
    expect(error?.code).toBe(-32601);
  }
});
