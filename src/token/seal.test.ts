import { expect, test } from "vitest";
import type { Claims } from "./claims.ts";
import { TokenTooLarge } from "./errors.ts";
import { newKey, parseKeys } from "./keyring.ts";
import { open } from "./open.ts";
import { seal } from "./seal.ts";

const keyring = parseKeys([newKey("new"), newKey("old")]);
const now = 1_800_000_000_000;

test("seals under the first key", () => {
  expect(seal(claims(null), keyring)).toMatch(/^v1\.new\.[\w-]+$/);
});

test("never gives the same text twice", () => {
  const texts = Array.from({ length: 100 }, () => seal(claims(null), keyring));
  expect(new Set(texts).size).toBe(100);
});

test("gives the same text for the same nonce, so that a release can pin it", () => {
  const fixed = parseKeys(`k:${Buffer.alloc(32).toString("base64url")}`);
  const text = seal(claims({ a: 1 }), fixed, { randomBytes: (size) => Buffer.alloc(size) });
  expect(open(text, fixed, { ...claims(null), now })).toEqual(claims({ a: 1 }));
  expect(text).toBe(
    "v1.k.AAAAAAAAAAAAAAAAztxiW29aWkIlLefpmJCsKFBMIbgVnBhY887XtE0qF_b_cIAQfXrRS3HYaRR3PAfbZSzp26PPEF8NDzKAymBWPfzm-1Ebil9SE_rAliTOBdXbjWWSoeycD4KeMEQkfCePypYergun9gYqkofnkV6dStFvk4lVPZvRAqWNP-5axOBjzOvKyCRxF9X_Rozm",
  );
});

test("hides everything from a client", () => {
  const text = seal(claims("the answer to a secret question"), keyring);
  const bytes = Buffer.from(text.split(".").at(2) ?? "", "base64url").toString("latin1");
  for (const word of ["secret", "tools/call", "resolve_bug", "alice", "tracker"]) {
    expect(text + bytes).not.toContain(word);
  }
});

test("seals up to the limit and not a character further", () => {
  const text = seal(claims("x".repeat(500)), keyring);
  expect(seal(claims("x".repeat(500)), keyring, { maxBytes: text.length })).toHaveLength(
    text.length,
  );
  const over = thrownBy(() =>
    seal(claims("x".repeat(500)), keyring, { maxBytes: text.length - 1 }),
  );
  expect(over).toBeInstanceOf(TokenTooLarge);
  expect(over).toMatchObject({ bytes: text.length, limit: text.length - 1 });
});

test("has a limit of 32 KiB by default", () => {
  // The text grows by four characters for every three.
  const room = Math.floor(((32 * 1024 - seal(claims(""), keyring).length) * 3) / 4);
  const text = seal(claims("x".repeat(room)), keyring);
  expect(text.length).toBeGreaterThan(32 * 1024 - 3);
  expect(text.length).toBeLessThanOrEqual(32 * 1024);
  expect(thrownBy(() => seal(claims("x".repeat(room + 3)), keyring))).toMatchObject({
    name: "TokenTooLarge",
    limit: 32 * 1024,
    message: expect.stringMatching(
      /^The sealed text would have 327\d\d bytes, but the limit is 32768\.$/,
    ),
  });
});

test("deflates only on request, and opens both", () => {
  const state = Array.from({ length: 50 }, (_, at) => ({
    key: `step-${at}`,
    kind: "ok",
    value: at,
  }));
  const plain = seal(claims(state), keyring);
  const deflated = seal(claims(state), keyring, { deflate: true });
  expect(deflated.length).toBeLessThan(plain.length / 2);
  for (const text of [plain, deflated]) {
    expect(open(text, keyring, { ...claims(null), now }).state).toEqual({
      kind: "inline",
      value: state,
    });
  }
  // The length must not depend on the content, only on its length.
  expect(seal(claims("x".repeat(999)), keyring)).toHaveLength(
    seal(claims("lorem ipsum dolor".repeat(99).slice(0, 999)), keyring).length,
  );
});

test("holds up to eight times the limit when deflated, and opens it again", () => {
  const limits = { maxBytes: 2000, deflate: true };
  const most = 8 * 2000 - lengthOfHead();
  // The limit counts bytes, not characters.
  const longest = "é".repeat(most / 2).padEnd(most - Math.floor(most / 2), "x");
  const text = seal(claims(longest), keyring, limits);
  const opened = open(text, keyring, { ...claims(null), now, maxBytes: 2000 });
  expect(opened.state).toEqual({ kind: "inline", value: longest });
  expect(thrownBy(() => seal(claims(`${longest}x`), keyring, limits))).toMatchObject({
    name: "TokenTooLarge",
    bytes: 16_001,
    limit: 16_000,
  });
});

function lengthOfHead(): number {
  const text = seal(claims(""), keyring);
  const block = Buffer.from(text.split(".").at(2) ?? "", "base64url").length;
  return block - 12 - 16 - 1;
}

function claims(value: unknown): Claims<unknown> {
  return {
    method: "tools/call",
    target: "resolve_bug",
    argumentsDigest: "d",
    principal: "alice",
    audience: "tracker",
    callId: "c10",
    round: 2,
    roundsLeft: 8,
    expiresAt: now + 1,
    state: { kind: "inline", value },
  };
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.fail("nothing was thrown");
}
