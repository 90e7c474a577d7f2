import { randomBytes } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Claims, encodeClaims } from "./claims.ts";
import { TokenError } from "./errors.ts";
import { write } from "./format.ts";
import { newKey, parseKeys } from "./keyring.ts";
import { type Expected, open } from "./open.ts";
import { seal } from "./seal.ts";
import { sealTicket } from "./ticket.ts";

const keyring = parseKeys(newKey("k"));
const expiresAt = 1_800_000_000_000;
const claims: Claims<unknown> = {
  method: "tools/call",
  target: "resolve_bug",
  argumentsDigest: "0".repeat(43),
  principal: "https://id.example alice",
  audience: "tracker",
  callId: "c1",
  round: 2,
  roundsLeft: 8,
  expiresAt,
  state: { kind: "inline", value: { journal: [1, "two", null] } },
};
const expected: Expected = { ...claims, now: expiresAt - 1 };

describe("sealed claims", () => {
  const text = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((codes) => String.fromCharCode(...codes));
  const anyClaims: fc.Arbitrary<Claims<unknown>> = fc.record({
    method: text,
    target: text,
    argumentsDigest: text,
    principal: fc.option(text, { nil: undefined }),
    audience: text,
    callId: text,
    round: fc.maxSafeNat(),
    roundsLeft: fc.integer({ min: 1 }),
    expiresAt: fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    state: fc.oneof(
      fc.record({ kind: fc.constant("inline" as const), value: fc.jsonValue() }),
      fc.record({ kind: fc.constant("spilled" as const), pointer: text }),
    ),
  });

  test("open again, whatever they are", () => {
    fc.assert(
      fc.property(anyClaims, fc.boolean(), (sealed, deflate) => {
        const opened = open(seal(sealed, keyring, { deflate }), keyring, {
          ...sealed,
          now: -Infinity,
        });
        const { state, expiresAt: until, ...rest } = opened;
        expect(rest).toEqual({ ...sealed, state: undefined, expiresAt: undefined });
        // JSON has no -0.
        expect(until).toBe(sealed.expiresAt + 0);
        expect(state).toEqual(JSON.parse(JSON.stringify(sealed.state)));
      }),
    );
  });

  test("come back with these members and no others", () => {
    expect(open(seal(claims, keyring), keyring, expected)).toStrictEqual(claims);
  });

  test("keep a member named __proto__", () => {
    const value: unknown = JSON.parse('{"__proto__":{"admin":true}}');
    const token = seal({ ...claims, state: { kind: "inline", value } }, keyring);
    const { state } = open(token, keyring, expected);
    expect(JSON.stringify(state)).toBe('{"kind":"inline","value":{"__proto__":{"admin":true}}}');
  });

  test("may point to a state in the store", () => {
    const spilled = { ...claims, state: { kind: "spilled", pointer: "row 42" } } as const;
    expect(open(seal(spilled, keyring), keyring, expected).state).toStrictEqual(spilled.state);
  });
});

describe("keys", () => {
  const [first, second] = [newKey("first"), newKey("second")];
  const token = seal(claims, parseKeys(first));

  test("an old key still opens tokens after a new one was added in front of it", () => {
    const rotated = parseKeys([second, first]);
    expect(open(token, rotated, expected)).toEqual(claims);
    expect(seal(claims, rotated)).toMatch(/^v1\.second\./);
  });

  test("a removed key opens nothing", () => {
    expect(reason(token, expected, parseKeys(second))).toBe("unknown_key");
  });

  test("another key under the same id opens nothing", () => {
    expect(reason(token, expected, parseKeys(newKey("first")))).toBe("forged");
  });
});

describe("a token is for one request", () => {
  const token = seal(claims, keyring);

  test.each([
    ["method", { method: "prompts/get" }, "method"],
    ["tool", { target: "resolve_bugs" }, "target"],
    ["tool, in capitals", { target: "Resolve_bug" }, "target"],
    ["arguments", { argumentsDigest: "1".repeat(43) }, "arguments"],
    ["principal", { principal: "https://id.example mallory" }, "principal"],
    [
      "principal, whose name begins with it",
      { principal: "https://id.example alice2" },
      "principal",
    ],
    ["principal, undefined", { principal: undefined }, "principal"],
    ["principal, empty", { principal: "" }, "principal"],
    ["server", { audience: "tracker-staging" }, "audience"],
  ])("it is refused for another %s", (_what, change, why) => {
    expect(reason(token, { ...expected, ...change })).toBe(why);
  });

  test.each([[""], ["nobody"], ["undefined"], ["null"]])(
    "one without a principal is refused for a principal named %j, and the reverse",
    (principal) => {
      const forNobody = seal({ ...claims, principal: undefined }, keyring);
      const forSomebody = seal({ ...claims, principal }, keyring);
      expect(reason(forNobody, { ...expected, principal })).toBe("principal");
      expect(reason(forSomebody, { ...expected, principal: undefined })).toBe("principal");
      expect(open(forSomebody, keyring, { ...expected, principal }).principal).toBe(principal);
      expect(
        open(forNobody, keyring, { ...expected, principal: undefined }).principal,
      ).toBeUndefined();
    },
  );

  test("the log names the most alarming difference", () => {
    const different = { method: "m", target: "t", argumentsDigest: "a" };
    expect(reason(token, { ...expected, ...different, now: Infinity })).toBe("method");
    expect(reason(token, { ...expected, ...different, principal: "p" })).toBe("principal");
    expect(reason(token, { ...expected, ...different, principal: "p", audience: "a" })).toBe(
      "audience",
    );
  });
});

describe("nothing is decided before everything is checked", () => {
  const token = seal(claims, keyring);
  const members = ["argumentsDigest", "audience", "method", "now", "principal", "target"];

  test.each([
    ["for another server", token, { audience: "x" }, "audience"],
    ["expired", token, { now: Infinity }, "expired"],
    ["forged", `${token.slice(0, -10)}AAAAAAAAAA`, {}, "forged"],
    ["malformed", `${token}=`, {}, "malformed"],
    ["under an unknown key", token.replace("v1.k", "v1.x"), {}, "unknown_key"],
  ])("a token that is %s is still checked completely", (_what, text, change, why) => {
    const looked = new Set<string | symbol>();
    const watched = new Proxy<Expected>(
      { ...expected, ...change },
      {
        get: (target, name) => {
          looked.add(name);
          return Reflect.get(target, name);
        },
      },
    );
    expect(reason(text, watched)).toBe(why);
    expect([...looked]).toEqual(expect.arrayContaining(members));
  });

  test("the state is not parsed before the checks", () => {
    const unreadable = authentic(`\0${encodeClaims(claims).slice(0, -1)}`);
    expect(reason(unreadable, { ...expected, audience: "x" })).toBe("audience");
    expect(reason(unreadable, expected)).toBe("malformed");
  });
});

describe("time and rounds", () => {
  const token = seal(claims, keyring);

  test("a token opens up to the last millisecond before it expires", () => {
    expect(open(token, keyring, { ...expected, now: expiresAt - 1 })).toEqual(claims);
    expect(reason(token, { ...expected, now: expiresAt })).toBe("expired");
    expect(reason(token, { ...expected, now: expiresAt + 1 })).toBe("expired");
  });

  test("with a broken clock, no token opens", () => {
    expect(reason(token, { ...expected, now: Number.NaN })).toBe("expired");
  });

  test("a token opens while rounds are left", () => {
    const last = seal({ ...claims, roundsLeft: 1 }, keyring);
    expect(open(last, keyring, expected).roundsLeft).toBe(1);
    expect(reason(seal({ ...claims, roundsLeft: 0 }, keyring), expected)).toBe("rounds_spent");
    expect(reason(seal({ ...claims, roundsLeft: -1 }, keyring), expected)).toBe("rounds_spent");
  });
});

describe("size", () => {
  test("a token opens up to the limit and not a character further", () => {
    const token = seal(claims, keyring);
    expect(open(token, keyring, { ...expected, maxBytes: token.length })).toEqual(claims);
    expect(reason(token, { ...expected, maxBytes: token.length - 1 })).toBe("too_long");
  });

  test("the limit is 32 KiB by default", () => {
    expect(reason("A".repeat(32 * 1024), expected)).toBe("malformed");
    expect(reason("A".repeat(32 * 1024 + 1), expected)).toBe("too_long");
  });

  test("a few kilobytes that inflate to many megabytes are not inflated", () => {
    const inflated = (length: number) => {
      const value = "x".repeat(length);
      const text = encodeClaims({ ...claims, state: { kind: "inline", value } });
      return write("v1", Buffer.concat([Buffer.of(1), deflateRawSync(text)]), keyring, randomBytes);
    };
    expect(open(inflated(200_000), keyring, expected).state.kind).toBe("inline");
    const bomb = inflated(20_000_000);
    expect(bomb.length).toBeLessThan(32 * 1024);
    expect(reason(bomb, expected)).toBe("malformed");
  });
});

describe("an authentic token that this version would not write", () => {
  const written = encodeClaims(claims);

  test("opens if it is well-formed", () => {
    expect(open(authentic(`\0${written}`), keyring, expected)).toEqual(claims);
  });

  test.each([
    ["empty", ""],
    ["of another packing", `\u0002${written}`],
    ["of another format", `\0${written.replace('"f":1', '"f":2')}`],
    ["without a head", `\0\n{}`],
    ["with a state cut off", `\0${written.slice(0, -1)}`],
    ["without a state", `\0${written.slice(0, written.indexOf("\n") + 1)}`],
    ["with an extra member", `\0${written.replace('"f":1', '"f":1,"admin":true')}`],
    ["with a principal of null", `\0${written.replace(/"p":"[^"]*"/, '"p":null')}`],
  ])("is malformed: %s", (_what, payload) => {
    expect(reason(authentic(payload), { ...expected, principal: claims.principal })).toBe(
      "malformed",
    );
  });
});

test("a ticket is not a token", () => {
  const ticket = sealTicket(
    { kind: "url", callId: "c1", key: "go", principal: undefined, audience: "tracker", expiresAt },
    keyring,
  );
  expect(reason(ticket, expected)).toBe("malformed");
  expect(reason(ticket.replace("t1", "v1"), expected)).toBe("forged");
});

describe("the error is always the same", () => {
  const traps = new Proxy({}, { get: () => explode });

  test.each([
    [undefined],
    [null],
    [0],
    [Number.NaN],
    [1n],
    [true],
    [Symbol("token")],
    [[]],
    [[seal(claims, keyring)]],
    [{}],
    [Object(seal(claims, keyring))],
    [Buffer.from(seal(claims, keyring))],
    [() => seal(claims, keyring)],
    [{ toString: explode, valueOf: explode, [Symbol.toPrimitive]: explode, toJSON: explode }],
    [Object.defineProperty({}, "length", { get: explode })],
    [new Proxy({}, traps)],
    [new Proxy(explode, traps)],
  ])("for a value that is not a string (%#)", (value) => {
    expect(reason(value, expected)).toBe("not_text");
  });

  test.each([
    ["an empty string", "", "malformed"],
    ["a space", " ", "malformed"],
    ["dots", "...", "malformed"],
    ["lone surrogates", "\ud800.\udfff.\ud800", "malformed"],
    ["a lone surrogate as the key id", "v1.\ud800.AAAA", "unknown_key"],
    ["a lone surrogate as the body", "v1.k.\ud800", "malformed"],
    ["null bytes", "\0\0\0", "malformed"],
    ["an object's own names", "v1.__proto__.constructor", "malformed"],
    ["a JWT", "eyJhbGciOiJub25lIn0.e30.", "malformed"],
    ["JSON", JSON.stringify(claims), "malformed"],
    ["a gigantic string", "v1.k.".padEnd(2 ** 28, "A"), "too_long"],
  ])("for %s", (_what, text, why) => {
    expect(reason(text, expected)).toBe(why);
  });

  test("for any text at all", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), fc.boolean(), (codes, headed) => {
        const text = String.fromCharCode(...codes);
        expect(reason(headed ? `v1.k.${text}` : text, expected)).toMatch(/^(malformed|forged)$/);
      }),
    );
  });

  test("for a mistake of the server, with the cause in the log", () => {
    const broken = Object.defineProperty({ ...expected }, "audience", { get: explode });
    const error = refusal(seal(claims, keyring), broken);
    expect(error.reason).toBe("internal");
    expect(error.cause).toEqual(new Error("touched"));
    // @ts-expect-error -- a caller without types
    expect(reason(seal(claims, keyring), { now: 1 })).toBe("internal");
  });
});

/** Every refusal in this file passes here, so each has the one message, and nothing else was thrown. */
function refusal(text: unknown, request: Expected, ring = keyring): TokenError {
  const thrown = thrownBy(() => open(text, ring, request));
  if (!(thrown instanceof TokenError)) throw new Error("not a TokenError", { cause: thrown });
  expect(thrown.message).toBe("Invalid or expired requestState");
  return thrown;
}

function reason(text: unknown, request: Expected, ring = keyring): string {
  return refusal(text, request, ring).reason;
}

function authentic(payload: string): string {
  return write("v1", Buffer.from(payload), keyring, randomBytes);
}

function explode(): never {
  throw new Error("touched");
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.fail("it was opened");
}
