import { expect, test } from "vitest";
import { type Claims, decodeHead, decodeState, encodeClaims } from "./claims.ts";

const claims: Claims<unknown> = {
  method: "tools/call",
  target: "resolve_bug",
  argumentsDigest: "d",
  principal: "alice",
  audience: "tracker",
  callId: "c1",
  round: 2,
  roundsLeft: 8,
  expiresAt: 1000,
  state: { kind: "inline", value: [1] },
};

// The next version opens tokens that were made before a deployment, so a change here needs a new format number.
test("is written like this in format 1", () => {
  expect(encodeClaims(claims)).toBe(
    '{"f":1,"c":"c1","r":2,"l":8,"x":1000,"m":"tools/call","t":"resolve_bug","a":"d","p":"alice","u":"tracker"}\n[1]',
  );
  const spilled = {
    ...claims,
    principal: undefined,
    state: { kind: "spilled", pointer: "s1" },
  } as const;
  expect(encodeClaims(spilled)).toBe(
    '{"f":1,"c":"c1","r":2,"l":8,"x":1000,"m":"tools/call","t":"resolve_bug","a":"d","u":"tracker","s":"s1"}\n',
  );
});

const head = {
  f: 1,
  c: "c1",
  r: 2,
  l: 8,
  x: 1000,
  m: "tools/call",
  t: "resolve_bug",
  a: "d",
  p: "alice",
  u: "tracker",
};

test("needs every member except the principal and the pointer", () => {
  const missable = Object.keys(head).filter((name) => {
    const without = { ...head, [name]: undefined };
    return decodeHead(`${JSON.stringify(without)}\nnull`) !== undefined;
  });
  expect(missable).toEqual(["p"]);
});

test.each([
  ["a later format", { f: 2 }],
  ["a format that is a string", { f: "1" }],
  ["an unknown member", { z: 1 }],
  ["a call id that is a number", { c: 1 }],
  ["half a round", { r: 0.5 }],
  ["a round before the first", { r: -1 }],
  ["a budget that is a string", { l: "8" }],
  ["an expiry that is a string", { x: "1000" }],
  ["an expiry of null", { x: null }],
  ["a method that is a list", { m: ["tools/call"] }],
  ["a target of null", { t: null }],
  ["a digest that is an object", { a: {} }],
  ["a principal of null", { p: null }],
  ["an audience that is a list", { u: ["tracker"] }],
  ["a pointer that is a number", { s: 1 }],
])("does not decode %s", (_what, change) => {
  expect(decodeHead(`${JSON.stringify({ ...head, ...change })}\nnull`)).toBeUndefined();
});

test.each([
  ["no second line", JSON.stringify(head)],
  ["a space as the second line", `${JSON.stringify(head)} `],
  ["nothing", ""],
  ["an empty head", "\nnull"],
  ["text that is not JSON", "{\nnull"],
  ["null", "null\nnull"],
  ["a list", "[]\nnull"],
  ["a member named __proto__", `${JSON.stringify(head).replace("{", '{"__proto__":{},')}\nnull`],
])("does not decode %s", (_what, text) => {
  expect(decodeHead(text)).toBeUndefined();
});

test.each([
  ["a state that is cut off", head, '{"a":'],
  ["no state", head, ""],
  ["two states", head, "1\n2"],
  ["a pointer and a state", { ...head, s: "s1" }, "1"],
])("does not decode %s", (_what, members, state) => {
  const decoded = decodeHead(`${JSON.stringify(members)}\n${state}`);
  expect(decoded && decodeState(decoded)).toBeUndefined();
  expect(decoded).toBeDefined();
});

test.each([
  { expiresAt: Infinity },
  { expiresAt: Number.NaN },
  { round: -1 },
  { round: 1.5 },
  { roundsLeft: Number.NaN },
  { callId: undefined },
  { method: 1 },
  { principal: null },
])("does not encode what it could not decode: %o", (change) => {
  // @ts-expect-error -- a caller without types
  expect(() => encodeClaims({ ...claims, ...change })).toThrow(
    new TypeError(
      "seal: these claims could not be opened again. round must be a whole number of at least 0, roundsLeft a whole number, expiresAt a finite number, and everything else a string.",
    ),
  );
});

test.each([undefined, () => 1, Symbol("s")])(
  "does not encode a state that is not JSON (%#)",
  (value) => {
    expect(() => encodeClaims({ ...claims, state: { kind: "inline", value } })).toThrow(
      new TypeError(`seal: a state must be JSON, but this one is of type ${typeof value}`),
    );
  },
);
