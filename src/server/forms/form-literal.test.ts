import { describe, expect, test } from "vitest";
import { ParleyError } from "../../errors.ts";
import { formOf } from "./form.ts";
import type { FormJson } from "./schema.ts";

const read = async (form: FormJson, content: unknown) => formOf("k", form).read(content);
const wire = (form: FormJson) => formOf("k", form).requestedSchema;
const value = (result: unknown) => ({ ok: true, value: result });
const reason = (words: string) => ({ ok: false, reason: words });

function refusal(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (error instanceof ParleyError && error.code === "not_askable") return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

// Handlers in plain JavaScript pass anything.
const refused = (schema: unknown, key = "q") =>
  refusal(() => Reflect.apply(formOf, undefined, [key, schema]));

describe("a form written out", () => {
  const literal = {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 2, maxLength: 4 },
      mail: { type: "string", format: "email" },
      how: { type: "string", enum: ["a", "b"], default: "a" },
      where: { type: "string", oneOf: [{ const: "eu", title: "Europe" }] },
      age: { type: "integer", minimum: 1 },
      rate: { type: "number", minimum: 0, maximum: 1 },
      ok: { type: "boolean" },
      tags: {
        type: "array",
        items: { type: "string", enum: ["x", "y", "z"] },
        minItems: 1,
        maxItems: 2,
        default: ["x"],
      },
      areas: { type: "array", items: { anyOf: [{ const: "n", title: "North" }] } },
    },
    required: ["name", "age"],
  } as const satisfies FormJson;
  const least = { name: "Ann", age: 3 };
  const filled = { ...least, how: "a", tags: ["x"] };

  test("is sent unchanged", () => {
    expect(wire(literal)).toEqual(literal);
  });

  test("is sent without keywords that mean nothing to a form", () => {
    const more = { ...literal, $schema: "s", title: "T", additionalProperties: false };
    expect(wire(more)).toEqual(literal);
  });

  test("is parsed with its defaults applied, a list as a new list", async () => {
    expect(await read(literal, least)).toEqual(value(filled));
    const answer: unknown = Reflect.get(await read(literal, least), "value");
    expect(Reflect.get(Object(answer), "tags")).not.toBe(literal.properties.tags.default);
    expect(await read(literal, { ...least, how: "b", ok: false, rate: 0.5, areas: [] })).toEqual(
      value({ ...filled, how: "b", ok: false, rate: 0.5, areas: [] }),
    );
  });

  test.each([
    [{ name: undefined }, '"name": expected text of 2 to 4 characters'],
    [{ name: "A" }, '"name": expected text of 2 to 4 characters'],
    [{ name: "Annie" }, '"name": expected text of 2 to 4 characters'],
    [{ mail: "ann" }, '"mail": expected an email address'],
    [{ how: "c" }, '"how": expected one of "a", "b"'],
    [{ where: "Europe" }, '"where": expected one of "Europe"'],
    [{ age: 0 }, '"age": expected a whole number of at least 1'],
    [{ age: 1.5 }, '"age": expected a whole number of at least 1'],
    [{ age: "3" }, '"age": expected a whole number of at least 1'],
    [{ rate: 1.1 }, '"rate": expected a number from 0 to 1'],
    [{ rate: null }, '"rate": expected a number from 0 to 1'],
    [{ ok: "true" }, '"ok": expected true or false'],
    [{ tags: [] }, '"tags": expected 1 to 2 of "x", "y", "z"'],
    [{ tags: ["x", "y", "z"] }, '"tags": expected 1 to 2 of "x", "y", "z"'],
    [{ tags: ["x", "x"] }, '"tags": expected 1 to 2 of "x", "y", "z"'],
    [{ tags: ["q"] }, '"tags": expected 1 to 2 of "x", "y", "z"'],
    [{ tags: "x" }, '"tags": expected 1 to 2 of "x", "y", "z"'],
    [{ areas: ["x"] }, '"areas": expected any of "North"'],
  ])("refuses %j", async (change, words) => {
    expect(await read(literal, { ...least, ...change })).toEqual(reason(words));
  });

  test("says what each bound requires", async () => {
    const bounds = {
      type: "object",
      properties: {
        a: { type: "string", maxLength: 1 },
        b: { type: "string", minLength: 2 },
        c: { type: "number", maximum: 1 },
      },
    } as const;
    expect(await read(bounds, { a: "xx", b: "x", c: 2 })).toEqual(
      reason(
        '"a": expected text of at most 1 character; "b": expected text of at least 2 characters; "c": expected a number of at most 1',
      ),
    );
  });

  test("counts characters, not UTF-16 halves", async () => {
    const one = { type: "object", properties: { k: { type: "string", maxLength: 1 } } } as const;
    expect(await read(one, { k: "😀" })).toEqual(value({ k: "😀" }));
  });

  test("refuses numbers that JSON cannot write", async () => {
    const one = { type: "object", properties: { k: { type: "number" } } } as const;
    expect(await read(one, JSON.parse('{"k":1e400}'))).toEqual(reason('"k": expected a number'));
  });

  test.each([
    [
      "email",
      "an email address",
      ["a@b.co", "a.b+c@d-e.f.org"],
      ["", "a", "a@b", "a@b.", "a@.b", "a b@c.de", "a@b@c.de", `${"a".repeat(320)}@b.co`],
    ],
    [
      "uri",
      "a URL",
      ["https://a.b/c?d#e", "mailto:a@b.co", "urn:isbn:1"],
      ["", "a", "/a", "//a.b", "https://", "https://a b", " https://a", "https://a/b c"],
    ],
    [
      "date",
      "a date such as 2026-11-15",
      ["2026-11-15", "2024-02-29"],
      [
        "",
        "2026-2-1",
        "2026-02-29",
        "2026-13-01",
        "2026-00-10",
        "2026-11-15T00:00:00Z",
        "15.11.2026",
      ],
    ],
    [
      "date-time",
      "a date and time such as 2026-11-15T09:30:00Z",
      ["2026-11-15T09:30:00Z", "2026-11-15t09:30:00.123+01:00", "2016-12-31T23:59:60Z"],
      [
        "",
        "2026-11-15",
        "2026-11-15T09:30:00",
        "2026-11-15T09:30Z",
        "2026-11-15T24:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-15T09:30:00+24:00",
        "2026-11-15 09:30:00Z",
      ],
    ],
  ] as const)("checks the format %s", async (format, words, good, bad) => {
    const one = { type: "object", properties: { k: { type: "string", format } } } as const;
    for (const k of good) expect(await read(one, { k })).toEqual(value({ k }));
    const wrong = reason(`"k": expected ${words}`);
    for (const k of bad) expect([k, await read(one, { k })]).toEqual([k, wrong]);
  });

  test("is refused if it has structure that a form cannot have", () => {
    const form = "A form has one level of strings, numbers, booleans and choices";
    expect(refused({ type: "object", properties: { a: { type: "object" } } })).toBe(
      `Question "q" cannot be shown as a form, because "a" is an object. ${form}. Make its members fields of their own, or ask a second question.`,
    );
    expect(refused({ type: "object", properties: { a: { type: "array" } } })).toBe(
      `Question "q" cannot be shown as a form, because "a" is a list of free values. ${form}. Make it a list of an enum to choose from, or ask for one line of text and split it.`,
    );
    expect(refused({ type: "object", properties: {}, required: ["a"] })).toBe(
      `Question "q" cannot be shown as a form, because "a" is required, but is not one of the fields. ${form}. Add it to the properties, or do not require it.`,
    );
  });

  test.each([
    ["pattern", { type: "string", pattern: "a" }],
    ["format", { type: "string", format: "uuid" }],
    ["minLength", { type: "string", minLength: "2" }],
    ["exclusiveMinimum", { type: "integer", exclusiveMinimum: 0 }],
    ["minimum", { type: "integer", minimum: "0" }],
    ["type", { type: ["string", "null"] }],
    ["enum", { type: "string", enum: [1] }],
    ["oneOf", { type: "string", oneOf: [{ const: "a" }] }],
    ["items", { type: "array", items: { enum: ["a"] } }],
    ["title", { type: "boolean", title: 1 }],
    ["default", { type: "string", enum: ["a"], default: "b" }],
    ["constructor", { type: "string", constructor: "b" }],
  ])("is refused if nothing would check its %s", (keyword, a) => {
    expect(refused({ type: "object", properties: { a } })).toBe(
      `Question "q" cannot be shown as a form, because "a" uses "${keyword}" in a way that a form cannot show. Leave it out, or pass the schema through fromJsonSchema() from @modelcontextprotocol/server.`,
    );
  });

  test("is refused if its root says more than a form can", () => {
    expect(refused({ type: "object", properties: {}, minProperties: 1 })).toBe(
      'Question "q" cannot be shown as a form, because it uses "minProperties" in a way that a form cannot show. Leave it out, or pass the schema through fromJsonSchema() from @modelcontextprotocol/server.',
    );
  });

  test("may have the bounds of safe integers, which are sent and enforced", async () => {
    const n = { type: "integer", maximum: Number.MAX_SAFE_INTEGER } as const;
    const one: FormJson = { type: "object", properties: { n } };
    expect(wire(one)).toEqual(one);
    expect(await read(one, { n: 2 ** 60 })).toMatchObject({ ok: false });
  });
});
