// Which way a question takes, for each client, server and question.

import { describe, expect, test } from "vitest";
import { canAsk, formsOnly, wayOf, waysOf } from "./ways.ts";
import type { Reach } from "./ways.ts";

const tool = { method: "tools/call" } as const;
const http = { headers: {} };
const stdio = {};
const nothing = {};
const form = { elicitation: { form: {} } };
const url = { elicitation: { url: {} } };
const apps = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};
const bare: Reach = { relay: false, hasPages: () => false };
const relay: Reach = { relay: true, hasPages: () => false };
const pages: Reach = { relay: false, hasPages: () => true };
const both: Reach = { relay: true, hasPages: () => true };

const ordinary = {};
const relayed = { relay: true };
const secret = { sensitive: true };
const yes = { relay: true, isConfirmation: true };

function way(
  reach: Reach,
  capabilities: object,
  question: Parameters<typeof wayOf>[1],
  { facts = http, principal, ui, method = "tools/call", isAdopted }: Partial<Call> = {},
) {
  const open = waysOf({ reach }, { method, ui, isAdopted }, { capabilities, principal, facts });
  return wayOf(open, question);
}

interface Call {
  readonly facts: { readonly headers?: unknown };
  readonly principal: string;
  readonly ui: "form";
  readonly method: string;
  readonly isAdopted: boolean;
}

describe("the first way that applies is taken", () => {
  test.each([
    ["form", bare, form, ordinary],
    ["form", both, { ...form, ...apps }, relayed],
    ["url", pages, url, ordinary],
    ["url", both, { elicitation: { form: {}, url: {} } }, secret],
    ["relay", relay, nothing, relayed],
    ["relay", both, nothing, relayed],
    ["link", both, nothing, ordinary],
    ["link", both, nothing, secret],
    ["link", both, form, secret],
    [undefined, bare, nothing, relayed],
    [undefined, bare, form, secret],
    [undefined, bare, url, ordinary],
    [undefined, relay, nothing, ordinary],
    [undefined, relay, nothing, secret],
    [undefined, pages, nothing, ordinary],
  ] as const)("%s", (expected, reach, capabilities, question) => {
    expect(way(reach, capabilities, question)).toBe(expected);
  });
});

describe("an App", () => {
  test("is used if the tool has a form and the client shows it", () => {
    expect(way(both, apps, relayed, { ui: "form" })).toBe("app");
    expect(way(bare, apps, ordinary, { ui: "form" })).toBe("app");
    expect(way(both, apps, relayed)).toBe("relay");
    const other = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } } };
    expect(way(both, other, relayed, { ui: "form" })).toBe("relay");
    expect(way(both, nothing, relayed, { ui: "form" })).toBe("relay");
  });

  test("never gets a secret", () => {
    expect(way(both, apps, secret, { ui: "form" })).toBe("link");
  });
});

describe("a confirmation", () => {
  test("goes by relay only if it says so and the caller is known", () => {
    expect(way(relay, nothing, yes, { facts: stdio })).toBe("relay");
    expect(way(relay, nothing, yes, { principal: "ada" })).toBe("relay");
    expect(way(relay, nothing, yes)).toBe(undefined);
    expect(way(both, nothing, yes)).toBe("link");
    expect(way(relay, nothing, { isConfirmation: true }, { facts: stdio })).toBe(undefined);
  });
});

test.each([{ method: "prompts/get" }, { method: "resources/read" }, { isAdopted: true }] as const)(
  "%o has the ways of the client alone",
  (call) => {
    expect(way(both, nothing, relayed, call)).toBe(undefined);
    expect(way(both, form, relayed, call)).toBe("form");
    expect(way(both, url, secret, call)).toBe("url");
  },
);

test("an ordinary question counts as one that the model may relay", () => {
  const open = (reach: Reach) =>
    waysOf({ reach }, tool, { capabilities: nothing, principal: undefined, facts: http });
  expect(canAsk(open(relay))).toBe(true);
  expect(canAsk(open(pages))).toBe(false);
});

test("a call that was recorded without ways has the client's forms", () => {
  expect(wayOf(formsOnly(["form"]), ordinary)).toBe("form");
  expect(wayOf(formsOnly(["url"]), relayed)).toBe(undefined);
});

test("for a client that shows forms, the headers of the request are not read", () => {
  const facts = {
    get headers(): never {
      throw new Error("read");
    },
  };
  const request = { capabilities: form, principal: undefined, facts };
  expect(wayOf(waysOf({ reach: both }, tool, request), ordinary)).toBe("form");
  expect(() => waysOf({ reach: both }, tool, { ...request, capabilities: nothing })).toThrow(
    "read",
  );
});
