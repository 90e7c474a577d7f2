import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ParleyError } from "../errors.ts";
import { digest } from "./canonical.ts";
import { TokenTooLarge } from "./errors.ts";
import { write } from "./format.ts";
import { newKey, parseKeys } from "./keyring.ts";
import { seal } from "./seal.ts";
import { openTicket, sealTicket, type Ticket } from "./ticket.ts";

const keyring = parseKeys(newKey("k"));
const expiresAt = 1_800_000_000_000;
const ticket: Ticket = {
  kind: "url",
  callId: "c1",
  key: "sign-in",
  principal: "alice",
  audience: "tracker",
  expiresAt,
};
const expected = { audience: "tracker", now: expiresAt - 1 };

test("opens to the sealed claims", () => {
  const text = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
    .map((codes) => String.fromCharCode(...codes));
  const tickets: fc.Arbitrary<Ticket> = fc.record({
    kind: fc.constantFrom("url", "external"),
    callId: text,
    key: text,
    principal: fc.option(text, { nil: undefined }),
    audience: text,
    expiresAt: fc.integer(),
  });
  fc.assert(
    fc.property(tickets, (any) => {
      const sealed = sealTicket(any, keyring);
      const { audience } = any;
      expect(openTicket(sealed, keyring, { audience, now: any.expiresAt - 1 })).toEqual(any);
    }),
  );
});

test("opens to these members and no others", () => {
  expect(openTicket(sealTicket(ticket, keyring), keyring, expected)).toStrictEqual(ticket);
});

test("fits in a URL unchanged", () => {
  const sealed = sealTicket(ticket, keyring);
  expect(sealed).toMatch(/^t1\.k\.[\w-]+$/);
  const url = new URL(`https://id.example/authorize?state=${sealed}#${sealed}`);
  expect(url.searchParams.get("state")).toBe(sealed);
  expect(url.hash).toBe(`#${sealed}`);
});

test("opens up to the last millisecond before it expires", () => {
  const sealed = sealTicket(ticket, keyring);
  expect(openTicket(sealed, keyring, { ...expected, now: expiresAt - 1 })).toEqual(ticket);
  expect(cause(sealed, { ...expected, now: expiresAt })).toBe("expired");
  expect(cause(sealed, { ...expected, now: Number.NaN })).toBe("expired");
});

test("is valid for one server", () => {
  expect(cause(sealTicket(ticket, keyring), { ...expected, audience: "staging" })).toBe("audience");
});

test("opens under an old key and not under a removed one", () => {
  const [first, second] = [newKey("first"), newKey("second")];
  const sealed = sealTicket(ticket, parseKeys(first));
  expect(openTicket(sealed, parseKeys([second, first]), expected)).toEqual(ticket);
  expect(cause(sealed, expected, parseKeys(second))).toBe("unknown_key");
});

test("is not a token, and a token is not a ticket", () => {
  const token = seal(
    {
      ...ticket,
      method: "tools/call",
      target: "resolve_bug",
      argumentsDigest: digest({}),
      round: 1,
      roundsLeft: 9,
      state: { kind: "inline", value: null },
    },
    keyring,
  );
  expect(cause(token)).toBe("malformed");
  expect(cause(token.replace("v1", "t1"))).toBe("forged");
});

const written =
  '{"f":1,"k":"url","c":"c1","q":"sign-in","p":"alice","u":"tracker","x":1800000000000}';

test("is written like this in format 1", () => {
  expect(openTicket(authentic(`\0${written}`), keyring, expected)).toEqual(ticket);
});

test.each([
  ["empty", ""],
  ["of another packing", `\u0002${written}`],
  ["of another format", `\0${written.replace('"f":1', '"f":2')}`],
  ["of another kind", `\0${written.replace("url", "form")}`],
  ["with an extra member", `\0${written.replace("{", '{"z":1,')}`],
  ["with a call id of null", `\0${written.replace('"c1"', "null")}`],
  ["with a key of null", `\0${written.replace('"sign-in"', "null")}`],
  ["with a principal of null", `\0${written.replace('"alice"', "null")}`],
  ["with an audience of null", `\0${written.replace('"tracker"', "null")}`],
  ["with an expiry that is a string", `\0${written.replace(/\d{13}/, '"$&"')}`],
  ["not JSON", "\0{"],
])("does not open when it is authentic but %s", (_what, payload) => {
  expect(cause(authentic(payload))).toBe("malformed");
});

test.each([
  [undefined, "not_text"],
  [{}, "not_text"],
  [["t1.k.AAAA"], "not_text"],
  ["", "malformed"],
  ["\ud800", "malformed"],
  ["t1.k.", "forged"],
  ["t1.k9.AAAA", "unknown_key"],
  ["A".repeat(4097), "too_long"],
])("says only that the link is invalid, and logs the reason (%#)", (text, why) => {
  expect(cause(text)).toBe(why);
});

test("says the same for a mistake of the server, and logs the cause", () => {
  // @ts-expect-error -- a caller without types
  expect(cause(sealTicket(ticket, keyring), { now: 1 })).toBeInstanceOf(TypeError);
});

test("is at most 4096 characters long", () => {
  const sized = (length: number) => sealTicket({ ...ticket, key: "x".repeat(length) }, keyring);
  const room = Math.floor(((4096 - sized(0).length) * 3) / 4);
  const longest = sized(room);
  expect(longest.length).toBeGreaterThan(4096 - 3);
  expect(openTicket(longest, keyring, expected).key).toHaveLength(room);
  expect(() => sized(room + 3)).toThrow(TokenTooLarge);
});

test.each([{ expiresAt: Infinity }, { kind: "form" }, { callId: 1 }, { principal: null }])(
  "is not sealed if it could not be opened: %o",
  (change) => {
    // @ts-expect-error -- a caller without types
    expect(() => sealTicket({ ...ticket, ...change }, keyring)).toThrow(
      new TypeError(
        'sealTicket: this ticket could not be opened again. kind must be "url", "external" or "approval", expiresAt and asked finite numbers, and everything else a string.',
      ),
    );
  },
);

function authentic(payload: string): string {
  return write("t1", Buffer.from(payload), keyring, randomBytes);
}

/** Every refusal in this file passes here, so each has the one message and code. */
function cause(text: unknown, request = expected, ring = keyring): unknown {
  const thrown = thrownBy(() => openTicket(text, ring, request));
  if (!(thrown instanceof ParleyError)) throw new Error("not a ParleyError", { cause: thrown });
  expect(thrown.code).toBe("bad_ticket");
  expect(thrown.message).toBe("This link is invalid or has expired.");
  return thrown.cause;
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.fail("it was opened");
}
