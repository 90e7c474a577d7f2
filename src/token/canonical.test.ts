import { createHash } from "node:crypto";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonical, digest, digestible, isDigestible } from "./canonical.ts";

test.each([
  [{ b: 1, a: [true, null, "x"] }, '{"a":[true,null,"x"],"b":1}'],
  [{ z: { b: {}, a: [] }, a: "" }, '{"a":"","z":{"a":[],"b":{}}}'],
  // Sorted by code unit: "10" before "9", capitals before small letters, an astral character before U+FFFD.
  [{ 9: 0, 10: 0, a: 0, B: 0 }, '{"10":0,"9":0,"B":0,"a":0}'],
  [{ "\ufffd": 0, "😀": 0 }, '{"😀":0,"\ufffd":0}'],
  [{ a: undefined, b: 1, c: undefined }, '{"b":1}'],
  [[-0, 1e21, 0.1, 1e-7], "[0,1e+21,0.1,1e-7]"],
  ['"\\\n\u0001\u007f\ud800', String.raw`"\"\\\n\u0001` + "\u007f" + String.raw`\ud800"`],
])("writes %j as %s", (value, text) => {
  expect(canonical(value)).toBe(text);
});

test("treats a member named __proto__ as data", () => {
  const value: unknown = JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}');
  expect(canonical(value)).toBe('{"__proto__":{"a":2,"b":1},"z":1}');
  expect(digest(value)).not.toBe(digest({ z: 1 }));
});

test("treats members named toJSON and constructor as data", () => {
  expect(canonical({ toJSON: "x", constructor: 1 })).toBe('{"constructor":1,"toJSON":"x"}');
});

test("writes a value as the same text, whatever the order of its members", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonical(reversed(value))).toBe(canonical(value));
    }),
  );
});

test("loses nothing of a value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test("quotes every text as JSON.stringify does, lone surrogates too", () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80 });
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      expect(canonical(text)).toBe(JSON.stringify(text));
    }),
  );
  const everyUnit = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  expect(everyUnit.filter((unit) => canonical(unit) !== JSON.stringify(unit))).toEqual([]);
});

test("accepts 200 levels of nesting and no more", () => {
  expect(canonical(nested(200))).toBe("[".repeat(200) + "]".repeat(200));
  const tooDeep = new RangeError("canonical: nested deeper than 200 levels");
  expect(() => canonical(nested(201))).toThrow(tooDeep);
  expect(() => canonical(nested(100_000))).toThrow(tooDeep);
  expect(() => canonical(JSON.parse('{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)))).toThrow(
    tooDeep,
  );
});

test("refuses a value that contains itself", () => {
  const loop: unknown[] = [];
  loop.push(loop, loop);
  expect(() => canonical(loop)).toThrow(RangeError);
});

test.each([
  [undefined, "undefined"],
  [[undefined], "undefined"],
  [Array(1), "undefined"],
  [Number.NaN, "NaN"],
  [{ a: -Infinity }, "-Infinity"],
  [1n, "bigint"],
  [Symbol("s"), "symbol"],
  [{ a: () => 1 }, "function"],
  [new Date(0), "an instance of a class"],
  [{ a: new Map() }, "an instance of a class"],
])("refuses what JSON cannot preserve (%#)", (value, kind) => {
  expect(() => canonical(value)).toThrow(new TypeError(`canonical: ${kind} is not a JSON value`));
});

test("accepts objects without a prototype, and those of another realm", () => {
  expect(canonical(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  expect(canonical(runInNewContext("({ b: 1, a: 2 })"))).toBe('{"a":2,"b":1}');
});

test("digests the canonical text with SHA-256, as base64url", () => {
  const sha256 = createHash("sha256").update('{"a":"ü","b":1}').digest("base64url");
  expect(digest({ b: 1, a: "ü" })).toBe(sha256);
  expect(sha256).toMatch(/^[\w-]{43}$/);
});

function nested(levels: number): unknown {
  return JSON.parse("[".repeat(levels) + "]".repeat(levels));
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const turned: object = Object.create(null);
  for (const [name, member] of Object.entries(value).toReversed()) {
    Object.defineProperty(turned, name, { value: reversed(member), enumerable: true });
  }
  return turned;
}

test("says beforehand which values have a digest", () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
  const special = fc.constantFrom<unknown>(
    new Date(0),
    new Map(),
    new URL("https://example.com"),
    Number.NaN,
    undefined,
    () => {},
    Symbol("s"),
    1n,
    // oxlint-disable-next-line no-sparse-arrays -- a list with a hole
    [1, , 2],
    deep(200),
    deep(201),
    Object.create(null),
  );
  const value = fc.oneof(
    fc.anything(),
    special,
    fc.array(special),
    fc.dictionary(fc.string(), special),
  );
  fc.assert(
    fc.property(value, (given) => {
      expect(isDigestible(given)).toBe(!throws(() => digest(given)));
      expect(isDigestible(given)).toBe(!throws(() => digestible(given)));
    }),
  );
});

function throws(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}
