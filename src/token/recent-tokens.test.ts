// A token that this process has sealed opens without its key, once, and only for what it was sealed for.

import { expect, test } from "vitest";
import type { Claims } from "./claims.ts";
import { newKey, parseKeys } from "./keyring.ts";
import { open } from "./open.ts";
import type { Expected } from "./open.ts";
import { recentTokens } from "./recent-tokens.ts";
import { seal } from "./seal.ts";

const expiresAt = 1_800_000_000_000;
const claims: Claims<unknown> = {
  method: "tools/call",
  target: "buy",
  argumentsDigest: "0".repeat(43),
  principal: "alice",
  audience: "shop",
  callId: "c1",
  round: 2,
  roundsLeft: 8,
  expiresAt,
  state: { kind: "inline", value: { journal: [1, "two", null] } },
};
const keyring = parseKeys(newKey("ours"));
/** Cannot decrypt what `keyring` has encrypted, so that a token opens with it only if nothing has to be decrypted. */
const stranger = parseKeys(newKey("strange"));

function remembering(sealed: Claims<unknown> = claims) {
  const recent = recentTokens();
  const token = seal(sealed, keyring, { recent });
  const expected: Expected = { ...sealed, now: expiresAt - 1, recent };
  return { recent, token, expected };
}

test("it says the same as if it were decrypted", () => {
  const { token, expected } = remembering();
  const known = open(token, stranger, expected);
  expect(known).toStrictEqual(open(token, keyring, { ...expected, recent: undefined }));
  expect(known).toStrictEqual(claims);
});

test("it says where a state is that was too large", () => {
  const spilled = { ...claims, state: { kind: "spilled", pointer: "row 42" } } as const;
  const { token, expected } = remembering(spilled);
  expect(open(token, stranger, expected)).toStrictEqual(spilled);
});

test("it is a copy, which the claims do not change any more", () => {
  const value = { journal: ["before"] };
  const { token, expected } = remembering({ ...claims, state: { kind: "inline", value } });
  value.journal.push("after");
  expect(open(token, stranger, expected).state).toEqual({
    kind: "inline",
    value: { journal: ["before"] },
  });
});

test("its state is kept as it is if it is ours, and says the same", () => {
  const recent = recentTokens();
  const token = seal(claims, keyring, { recent, isStateOurs: true });
  const opened = open(token, stranger, { ...claims, now: expiresAt - 1, recent });
  expect(opened).toStrictEqual(claims);
  expect(opened.state).toBe(claims.state);
});

test.each([
  ["method", { method: "prompts/get" }, "method"],
  ["tool", { target: "sell" }, "target"],
  ["arguments", { argumentsDigest: "1".repeat(43) }, "arguments"],
  ["principal", { principal: "mallory" }, "principal"],
  ["principal, undefined", { principal: undefined }, "principal"],
  ["server", { audience: "other" }, "audience"],
  ["time", { now: expiresAt }, "expired"],
])("it is refused for another %s", (_what, change, reason) => {
  const { token, expected } = remembering();
  expect(() => open(token, keyring, { ...expected, ...change })).toThrow(
    expect.objectContaining({ reason }),
  );
});

test("it is decrypted the second time", () => {
  const { token, expected } = remembering();
  open(token, keyring, expected);
  expect(() => open(token, stranger, expected)).toThrow(
    expect.objectContaining({ reason: "unknown_key" }),
  );
  expect(open(token, keyring, expected)).toStrictEqual(claims);
});

test("a token that differs in one character is not known", () => {
  const { token, expected } = remembering();
  const changed = token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");
  expect(() => open(changed, keyring, expected)).toThrow("Invalid or expired");
});

test("a token that is too large, or older than a megabyte of others, is decrypted", () => {
  const { recent, token, expected } = remembering();
  const large = { ...claims, state: { kind: "inline", value: "x".repeat(10_000) } } as const;
  const largeToken = seal(large, keyring, { recent });
  expect(() => open(largeToken, stranger, expected)).toThrow("Invalid or expired");
  const other = { ...claims, state: { kind: "inline", value: "x".repeat(4_000) } } as const;
  for (let n = 0; n < 120; n += 1) seal(other, keyring, { recent });
  expect(() => open(token, stranger, expected)).toThrow("Invalid or expired");
});
