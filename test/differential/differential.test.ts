// Both entries behave the same: the fast entry and the SDK's get the same bytes and send the same response.

import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import type { App } from "mcp-parley";
import { authenticated, everything, fullResults, withForeign } from "./app.ts";
import { comparable, isFast } from "./compare.ts";
import { mutations } from "./mutations.ts";
import type { Mutation } from "./mutations.ts";
import { sent } from "./raw.ts";
import type { Sent } from "./raw.ts";
import { draftOf, finished, prompt, resource, task, tool } from "./requests.ts";
import type { Request } from "./requests.ts";

/** One app behind both entries. */
async function servedTwice(app: App): Promise<{ readonly fast: number; readonly sdk: number }> {
  const [fast, sdk] = await Promise.all([app.listen(0), app.listen(0, { fast: false })]);
  return { fast: portOf(fast.url), sdk: portOf(sdk.url) };
}

const portOf = (url: string) => Number(new URL(url).port);

const apps = {
  open: everything(),
  guarded: everything(authenticated()),
  shared: withForeign(everything()),
};
const places = {
  open: servedTwice(apps.open),
  guarded: servedTwice(apps.guarded),
  shared: servedTwice(apps.shared),
};

afterAll(() => Promise.all(Object.values(apps).map((app) => app.close())));

type Where = keyof typeof places;

interface Compared {
  readonly what: string;
  readonly wasFast: boolean;
  /** Undefined if both responses are the same. */
  readonly difference: { readonly fast: unknown; readonly sdk: unknown } | undefined;
}

async function compared(where: Where, what: string, request: Sent): Promise<Compared> {
  const ports = await places[where];
  const [fast, sdk] = await Promise.all([sent(ports.fast, request), sent(ports.sdk, request)]);
  const [one, other] = [comparable(fast), comparable(sdk)];
  const difference = isDeepStrictEqual(one, other) ? undefined : { fast: one, sdk: other };
  return { what, wasFast: isFast(fast), difference };
}

const madeOf = (request: Request, changes: readonly Mutation[]): Sent => {
  const draft = draftOf(request);
  for (const { apply } of changes) apply(draft);
  return finished(draft);
};

/** Sends a few requests at a time. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 8) {
    results.push(...(await Promise.all(items.slice(at, at + 8).map(work))));
  }
  return results;
}

const differing = (all: readonly Compared[]) =>
  all.flatMap(({ what, difference }) =>
    difference === undefined ? [] : [{ what, ...difference }],
  );

// ---------------------------------------------------------------- valid requests

const errorCodes = [-32_602, -32_603, -32_042, -32_002, -32_021, -32_000, 7];

/** Requests that the fast entry serves by itself. */
const ours: readonly Request[] = [
  tool("echo", { text: "a" }),
  tool("echo", { text: "a", times: 3 }, { capabilities: {} }),
  tool("echo", { text: '“é” \u2028 🎈 \\ " \u0000' }),
  tool("echo", { text: 5 }),
  tool("echo"),
  tool("loose", { any: ["thing", { at: null }] }),
  tool("bare"),
  tool("bare", { not: "wanted" }),
  prompt("“quoted” ünïcode"),
  tool("facts", {}, { meta: { "any.example/thing": 1, progressToken: 5 } }),
  tool(
    "facts",
    {},
    { capabilities: {}, meta: { "io.modelcontextprotocol/clientInfo": undefined } },
  ),
  tool("sum", { a: 1, b: 2 }),
  tool("sum", { a: "1", b: 2 }),
  tool("unfit"),
  tool("throws"),
  ...errorCodes.map((code) => tool(`error${code}`)),
  tool("progress"),
  tool("log"),
  tool("ask", { text: "a" }),
  tool("ask", { text: "a" }, { capabilities: {} }),
  tool("ask", { text: "a" }, { capabilities: { elicitation: { url: {} } } }),
  tool("ask_the_model"),
  tool("ask_for_roots"),
  tool("send_to_a_page"),
  tool("ask_by_hand"),
  tool("state_alone"),
  tool("task"),
  tool("task", {}, { capabilities: {} }),
  tool("maybe_a_task"),
  tool("maybe_a_task", {}, { capabilities: {} }),
  prompt("greeting"),
  prompt("greet", { name: "Ada" }),
  prompt("greet", { name: "A" }),
  prompt("greet"),
  prompt("full"),
  prompt("asking"),
  prompt("asking", {}, { capabilities: {} }),
  prompt("failing"),
  ...errorCodes
    .filter((code) => ![-32_042, -32_002].includes(code))
    .map((code) => prompt(`error${code}`)),
  resource("note://fixed"),
  resource("note://bytes"),
  resource("note://kept"),
  resource("note://own"),
  resource("page://of-ours"),
  resource("PAGE://of-ours"),
  resource("asking://it"),
  resource("failing://it"),
  task("get", { taskId: "nobody's" }),
  task("update", { taskId: "nobody's", inputResponses: {} }),
  task("cancel", { taskId: "nobody's" }),
  { ...task("get", { taskId: "nobody's" }), capabilities: {} },
];

/** Requests whose response is a stream, so that neither entry sends a length. */
const streams: readonly Request[] = [
  tool("progress", {}, { meta: { progressToken: "p" } }),
  tool("progress", {}, { meta: { progressToken: 0 } }),
  tool("log", {}, { meta: { "io.modelcontextprotocol/logLevel": "debug" } }),
  tool("log", {}, { meta: { "io.modelcontextprotocol/logLevel": "warning" } }),
  tool("log_no_json", {}, { meta: { "io.modelcontextprotocol/logLevel": "debug" } }),
  tool("progress_then_error", {}, { meta: { progressToken: "p" } }),
  tool("progress_then_odd", {}, { meta: { progressToken: "p" } }),
];

/** Requests that only the SDK serves: handlers of other code, unknown ones, and checks that only it makes. */
const theirs: readonly Request[] = [
  tool("nobody"),
  tool("foreign", { a: "x" }),
  tool("foreign", { a: 5 }),
  tool("headers", { region: "north" }),
  tool("scoped"),
  prompt("nobody"),
  prompt("foreign"),
  prompt("error-32042"),
  prompt("error-32002"),
  resource("note://nobody"),
  resource("no uri"),
  resource("note://scoped"),
  resource("page://foreign"),
  resource("page://hidden-by-it"),
  { name: "tools/list", method: "tools/list", params: {} },
  { name: "server/discover", method: "server/discover", params: {} },
];

describe("valid requests", () => {
  test.each(ours)("the fast entry serves $name exactly as the SDK does", async (request) => {
    const { wasFast, difference } = await compared("open", request.name, madeOf(request, []));
    expect(difference).toBeUndefined();
    expect(wasFast).toBe(true);
  });

  test.each(streams)("$name streams exactly as with the SDK", async (request) => {
    const { difference } = await compared("open", request.name, madeOf(request, []));
    expect(difference).toBeUndefined();
  });

  test.each(theirs)("$name is left to the SDK", async (request) => {
    const { wasFast, difference } = await compared("shared", request.name, madeOf(request, []));
    expect(difference).toBeUndefined();
    expect(wasFast).toBe(false);
  });

  test.each(Object.keys(fullResults))(
    "the result “%s” is sent exactly as by the SDK",
    async (name) => {
      const request = tool(`full_${name}`);
      const { difference } = await compared("open", name, madeOf(request, []));
      expect(difference).toBeUndefined();
    },
  );
});

// ---------------------------------------------------------------- broken requests

const broken: readonly Request[] = [
  tool("echo", { text: "a" }),
  tool("echo", { text: 5 }),
  tool("raw"),
  tool("ask", { text: "a" }),
  tool("headers", { region: "north" }),
  prompt("greet", { name: "Ada" }),
  resource("note://fixed"),
  task("update", { taskId: "nobody's", inputResponses: {} }),
];

describe("broken, unusual or hostile requests", () => {
  test.each(broken)(
    "$name $params.arguments is treated alike, broken in every way",
    async (request) => {
      const all = await inTurn(mutations, (change) =>
        compared("open", change.name, madeOf(request, [change])),
      );
      expect(differing(all)).toEqual([]);
    },
  );

  test.each([undefined, "ada", "bob", "eve", "broken", "ada, Bearer bob", ""])(
    "the bearer token %s is treated alike",
    async (bearer) => {
      const requests = [
        tool("facts"),
        tool("scoped"),
        tool("ask", { text: "a" }),
        task("get", { taskId: "x" }),
      ];
      const all = await inTurn(requests, (request) =>
        compared(
          "guarded",
          request.name,
          madeOf({ ...request, ...(bearer === undefined ? {} : { bearer }) }, []),
        ),
      );
      expect(differing(all)).toEqual([]);
    },
  );

  test("other credentials are treated alike", async () => {
    const headers = ["Basic YTpi", "bearer ada", "Bearer", "Bearer  ada", "ada", "Bearer ada bob"];
    const all = await inTurn(headers, (value) => {
      const draft = draftOf(tool("facts"));
      draft.headers.push(["authorization", value]);
      return compared("guarded", value, finished(draft));
    });
    expect(differing(all)).toEqual([]);
  });

  test("requests that are broken in several random ways are treated alike", async () => {
    const requests = [...ours, ...streams, ...theirs];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...requests),
        fc.array(fc.constantFrom(...mutations), { minLength: 1, maxLength: 4 }),
        async (request, changes) => {
          const what = [request.name, ...changes.map(({ name }) => name)].join(", ");
          const { difference } = await compared("shared", what, madeOf(request, changes));
          expect(difference).toBeUndefined();
        },
      ),
      { numRuns: runs },
    );
  });

  test("requests with random bytes changed are treated alike", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...broken),
        fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 3,
        }),
        async (request, changes) => {
          const draft = madeOf(request, []);
          const bytes = Buffer.from(draft.body);
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
          const { difference } = await compared("open", request.name, { ...draft, body: bytes });
          expect(difference).toBeUndefined();
        },
      ),
      { numRuns: runs },
    );
  });
});

const runs = Number(process.env["PARLEY_PROPERTY_RUNS"] ?? 200);
