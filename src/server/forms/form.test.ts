import {
  fromJsonSchema,
  specTypeSchemas,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ParleyError } from "../../errors.ts";
import { choiceForm, confirmForm, formOf, type Form } from "./form.ts";
import type { FormJson, Schema } from "./schema.ts";

type Askable = Schema | FormJson | undefined;
const wire = (schema: Askable, key = "k") => formOf(key, schema).requestedSchema;
const read = async (schema: Askable, content: unknown) => formOf("k", schema).read(content);
const value = (result: unknown) => ({ ok: true, value: result });
const reason = (words: string) => ({ ok: false, reason: words });

/** A hand-written Standard Schema that misbehaves as much as a test needs. */
function standard(
  validate: StandardSchemaWithJSON["~standard"]["validate"],
  json: object = { type: "string" },
): StandardSchemaWithJSON {
  const convert = () => ({ ...json });
  const jsonSchema = { input: convert, output: convert };
  return { "~standard": { version: 1, vendor: "acme", validate, jsonSchema } };
}

describe("one value or an object", () => {
  test("a question without a schema is one line of text, named by its key", async () => {
    expect(wire(undefined, "name")).toEqual({
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    });
    expect(await read(undefined, { k: "Ann" })).toEqual(value("Ann"));
    expect(await read(undefined, { k: 7 })).toEqual(reason('"k": expected text'));
    expect(await read(undefined, {})).toEqual(reason('"k": expected text'));
  });

  test("a schema of one value is a form of one required field, and is unwrapped", async () => {
    const How = z.enum(["Fixed", "Duplicate"]);
    expect(wire(How, "how")).toEqual({
      type: "object",
      properties: { how: { type: "string", enum: ["Fixed", "Duplicate"] } },
      required: ["how"],
    });
    expect(await formOf("how", How).read({ how: "Fixed" })).toEqual(value("Fixed"));
  });

  test("an object schema is a form of its members, and returns the object", async () => {
    const Person = z.object({ name: z.string(), age: z.int() });
    expect(wire(Person)).toEqual({
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name", "age"],
    });
    expect(await read(Person, { name: "Ann", age: 3 })).toEqual(value({ name: "Ann", age: 3 }));
  });

  test("members that are optional or have a default are not required, and the default is shown and applied", async () => {
    const Person = z.object({ nick: z.string().optional(), age: z.int().default(18) });
    expect(wire(Person)).toEqual({
      type: "object",
      properties: { nick: { type: "string" }, age: { type: "integer", default: 18 } },
    });
    expect(await read(Person, {})).toEqual(value({ age: 18 }));
  });

  test("one value with a default may be left empty", async () => {
    const Size = z.enum(["S", "M"]).default("M");
    expect(wire(Size)).toEqual({
      type: "object",
      properties: { k: { type: "string", enum: ["S", "M"], default: "M" } },
    });
    expect(await read(Size, {})).toEqual(value("M"));
  });

  test("an object without members is an empty form", async () => {
    expect(wire(z.object({}))).toEqual({ type: "object", properties: {} });
    expect(wire(type({}))).toEqual({ type: "object", properties: {} });
  });

  test("an object that may be null is the form of the object", () => {
    expect(wire(z.object({ a: z.string() }).nullable())).toEqual(wire(z.object({ a: z.string() })));
  });
});

describe("plain JSON Schema through the SDK", () => {
  const Plain = fromJsonSchema({
    type: "object",
    properties: { name: { type: "string", pattern: "^A" }, n: { type: "integer", default: 3 } },
    required: ["name"],
    additionalProperties: false,
  });

  test("is shown as a form and fully checked", async () => {
    expect(wire(Plain)).toEqual({
      type: "object",
      properties: { name: { type: "string" }, n: { type: "integer", default: 3 } },
      required: ["name"],
    });
    expect(await read(Plain, { name: "Bob", n: 1 })).toEqual(
      reason('data/name must match pattern "^A"'),
    );
  });

  test("has its defaults applied, which the SDK's validator does not do", async () => {
    expect(await read(Plain, { name: "Ann" })).toEqual(value({ name: "Ann", n: 3 }));
    expect(await read(fromJsonSchema({ type: "string", default: "x" }), {})).toEqual(value("x"));
    expect(await read(fromJsonSchema({ enum: [1, 2], default: 2 }), {})).toEqual(value(2));
  });
});

describe("an untrusted answer", () => {
  const Person = z.object({ name: z.string(), age: z.int().optional() });

  test.each([[null], [[]], [["Ann"]], ["Ann"], [7], [true]])(
    "is refused if it is not an object: %j",
    async (content) => {
      const words = "expected an object with the fields of the form";
      expect(await read(Person, content)).toEqual(reason(words));
      expect(await read(z.string(), content)).toEqual(reason(`"k": ${words}`));
    },
  );

  test("is an empty form if it has no content", async () => {
    expect(await read(z.object({ a: z.string().default("x") }), undefined)).toEqual(
      value({ a: "x" }),
    );
    expect(await read(Person, undefined)).toEqual(
      reason('"name": Invalid input: expected string, received undefined'),
    );
  });

  test.each([
    ["zod", z.looseObject({ name: z.string() })],
    ["a strict zod object", z.strictObject({ name: z.string() })],
    ["arktype, which keeps undeclared members", type({ name: "string" })],
  ])("loses the members that were not asked for: %s", async (_, schema) => {
    const sent: unknown = JSON.parse('{"name":"Ann","admin":true,"__proto__":{"admin":true}}');
    const answer: unknown = Reflect.get(await read(schema, sent), "value");
    expect(answer).toEqual({ name: "Ann" });
    expect(Object.keys(Object(answer))).toEqual(["name"]);
    expect(Reflect.get(Object(answer), "admin")).toBeUndefined();
    expect(Reflect.get({}, "admin")).toBeUndefined();
  });

  test("is not read from its prototype", async () => {
    const properties = Object.fromEntries([["toString", { type: "string" } as const]]);
    expect(await read({ type: "object", properties }, {})).toEqual(value({}));
    expect(await formOf("constructor", undefined).read({})).toEqual(
      reason('"constructor": expected text'),
    );
  });

  test("may have a key that names a prototype", async () => {
    const form = formOf("__proto__", z.string());
    expect(JSON.stringify(form.requestedSchema)).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}',
    );
    expect(await form.read(JSON.parse('{"__proto__":"x"}'))).toEqual(value("x"));
    expect(await form.read({})).toMatchObject({ ok: false });
  });

  test.each([["😀"], ["x😀"]])(
    "is refused in a short message, however long it is: %s…",
    async (start) => {
      const result = await read(type("'a' | 'b'"), { k: start + "😀".repeat(100_000) });
      const words = String(Reflect.get(result, "reason"));
      expect(words.length).toBeLessThan(250);
      expect(words).not.toMatch(/\p{Surrogate}/u);
      expect(words).toMatch(/…$/);
    },
  );

  test("is refused with the first three reasons", async () => {
    const Many = z.object({ a: z.int(), b: z.int(), c: z.int(), d: z.int(), e: z.int() });
    expect(await read(Many, { a: 1 })).toEqual(
      reason(
        ["b", "c", "d"]
          .map((n) => `"${n}": Invalid input: expected number, received undefined; `)
          .join("") + "and 1 more",
      ),
    );
  });

  test.each([
    ["zod", z.object({ age: z.int().min(1) }), '"age": Too small: expected number to be >=1'],
    [
      "arktype, without its repetition",
      type({ age: "number >= 1" }),
      '"age": must be at least 1 (was 0)',
    ],
    [
      "valibot",
      toStandardJsonSchema(v.object({ age: v.pipe(v.number(), v.minValue(1)) })),
      '"age": Invalid value: Expected >=1 but received 0',
    ],
    ["the author", z.object({ age: z.int().min(1, "Born already?") }), '"age": Born already?'],
    ["a rule over all fields", z.object({ age: z.int() }).refine(() => false, "No."), "No."],
  ])("is refused in the words of %s", async (_, schema, words) => {
    expect(await read(schema, { age: 0 })).toEqual(reason(words));
  });

  test("is refused with the place within a list", async () => {
    expect(await read(z.array(z.enum(["a"])), { k: ["a", "b"] })).toEqual(
      reason('"k.1": Invalid input: expected "a"'),
    );
  });

  test("is awaited if the schema is asynchronous", async () => {
    const Free = z.string().refine(async (name) => name !== "taken", "taken");
    const form = formOf("k", Free);
    expect(await form.read({ k: "x" })).toEqual(value("x"));
    expect(await form.read({ k: "taken" })).toEqual(reason('"k": taken'));
  });

  test("is parsed at once if the check is synchronous", () => {
    expect(formOf("k", z.string()).read({ k: "x" })).toEqual(value("x"));
  });

  const boom = new Error("password=hunter2");
  test.each([
    [
      "throws",
      standard(() => {
        throw boom;
      }),
    ],
    [
      "rejects",
      standard(async () => {
        throw boom;
      }),
    ],
    [
      "throws inside zod",
      z.string().refine(() => {
        throw boom;
      }),
    ],
  ])("is refused without the text of the exception if the schema %s", async (_, schema) => {
    const result = await read(schema, { k: "x" });
    expect(result).toEqual({ ok: false, reason: "it could not be checked", thrown: boom });
  });

  test.each([
    ["nothing", () => undefined],
    ["a message that is not a string", () => ({ issues: [{ message: undefined }] })],
    ["a promise of nothing", async () => undefined],
  ])("is refused if the schema returns %s", async (_, validate) => {
    const schema = standard(() => ({ value: 1 }));
    Reflect.set(schema["~standard"], "validate", validate);
    expect(await read(schema, { k: "x" })).toMatchObject(reason("it could not be checked"));
  });

  test("is refused even if the schema names no issue", async () => {
    expect(
      await read(
        standard(() => ({ issues: [] })),
        { k: "x" },
      ),
    ).toEqual(reason("no reason was given"));
  });

  test("never causes an exception, whatever it is", async () => {
    const forms: readonly Form[] = [
      formOf("k", undefined),
      formOf("k", Person),
      formOf("k", z.literal([1, 2])),
      formOf("k", type({ a: "string", "b?": "('x' | 'y')[]" })),
      formOf("k", { type: "object", properties: { k: { type: "string", format: "date" } } }),
      choiceForm("k", ["a"]),
    ];
    const content = fc.anything({ withNullPrototype: true, withObjectString: true });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(content, fc.dictionary(fc.constantFrom("k", "a", "b", "name"), content)),
        async (sent) => {
          for (const form of forms) {
            const result = await form.read(sent);
            expect(result.ok ? "fine" : result.reason).toMatch(/^.{1,700}$/s);
          }
        },
      ),
    );
  });
});

describe("choose", () => {
  test("keeps the given order", async () => {
    const form = choiceForm("how", ["Fixed", "Duplicate", "Ancient"]);
    expect(form.requestedSchema).toEqual({
      type: "object",
      properties: { how: { type: "string", enum: ["Fixed", "Duplicate", "Ancient"] } },
      required: ["how"],
    });
    expect(await form.read({ how: "Ancient" })).toEqual(value("Ancient"));
    expect(await form.read({ how: "ancient" })).toEqual(
      reason('"how": expected one of "Fixed", "Duplicate", "Ancient"'),
    );
  });

  test("shows titles, and shows a value without a title as itself", async () => {
    const form = choiceForm("where", [{ value: "eu", title: "Europe" }, "us"]);
    expect(form.requestedSchema.properties.where).toEqual({
      type: "string",
      oneOf: [
        { const: "eu", title: "Europe" },
        { const: "us", title: "us" },
      ],
    });
    expect(await form.read({ where: "eu" })).toEqual(value("eu"));
    expect(await form.read({ where: "Europe" })).toEqual(
      reason('"where": expected one of "Europe", "us"'),
    );
  });

  test("refuses an empty list and a duplicate value", () => {
    expect(() => choiceForm("where", [])).toThrow(
      new ParleyError(
        "not_askable",
        'Question "where" cannot be shown as a form, because it has no choices. If the list may be empty, check that before you ask.',
      ),
    );
    expect(() => choiceForm("where", ["eu", { value: "eu", title: "Europe" }])).toThrow(
      new ParleyError(
        "not_askable",
        'Question "where" cannot be shown as a form, because the choice "eu" occurs twice. Give each choice its own value.',
      ),
    );
  });
});

test("confirm is an empty form, and accepting it means yes, whatever its content", async () => {
  expect(confirmForm.requestedSchema).toEqual({ type: "object", properties: {} });
  for (const content of [undefined, {}, { ok: false }, "no"]) {
    expect(await confirmForm.read(content)).toEqual(value(true));
  }
});

describe("caching", () => {
  test("forms are cached by schema, and by key if the key names the field", () => {
    const Name = z.string();
    const Person = z.object({ name: z.string() });
    const literal: FormJson = { type: "object", properties: {} };
    expect(formOf("a", Person)).toBe(formOf("b", Person));
    expect(formOf("a", literal)).toBe(formOf("b", literal));
    expect(formOf("a", Name)).toBe(formOf("a", Name));
    expect(formOf("a", Name)).not.toBe(formOf("b", Name));
    expect(Object.keys(formOf("b", Name).requestedSchema.properties)).toEqual(["b"]);
    expect(formOf("a", undefined)).toBe(formOf("a", undefined));
  });

  test("computed keys do not make the cache grow without limit", () => {
    const Name = z.string();
    const first = formOf("k-0", Name);
    for (let i = 1; i < 1_000; i++) formOf(`k-${i}`, Name);
    expect(formOf("k-0", Name), "a long call finds its own").toBe(first);
    formOf("one more", Name);
    expect(formOf("k-0", Name)).not.toBe(first);
  });

  test("the schema is converted to JSON once", () => {
    let conversions = 0;
    const schema = standard((given) => ({ value: given }));
    const convert = () => {
      conversions++;
      return { type: "string" };
    };
    Reflect.set(schema["~standard"], "jsonSchema", { input: convert, output: convert });
    for (const key of ["a", "b", "a"]) formOf(key, schema);
    expect(conversions).toBe(1);
  });
});

// ---------------------------------------------------------------- any flat object

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
const choices = fc.uniqueArray(text, { minLength: 1, maxLength: 4 });

interface Member {
  readonly schema: z.ZodType;
  readonly sent: fc.Arbitrary<unknown>;
}

const members: readonly fc.Arbitrary<Member>[] = [
  fc.nat(3).map((min) => ({
    schema: z.string().min(min).max(60),
    // ASCII, because zod counts the halves of a character and JSON Schema does not.
    sent: fc.string({ minLength: min, maxLength: 60 }),
  })),
  fc.constant({ schema: z.email(), sent: fc.constantFrom("a@b.co", "c.d@e.org") }),
  fc.constant({ schema: z.url(), sent: fc.webUrl() }),
  fc.constant({ schema: z.iso.date(), sent: fc.constantFrom("2026-11-15", "2024-02-29") }),
  fc.constant({ schema: z.boolean(), sent: fc.boolean() }),
  fc.constant({ schema: z.number(), sent: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
  fc.tuple(fc.integer({ min: -99, max: 99 }), fc.nat(99)).map(([min, span]) => ({
    schema: z
      .int()
      .gt(min - 1)
      .lte(min + span),
    sent: fc.integer({ min, max: min + span }),
  })),
  choices.map((values) => ({ schema: z.enum(values), sent: fc.constantFrom(...values) })),
  choices.map((values) => ({
    schema: z.union(values.map((each) => z.literal(each).meta({ title: `${each}!` }))),
    sent: fc.constantFrom(...values),
  })),
  choices.map((values) => ({
    schema: z.array(z.enum(values)).max(values.length),
    sent: fc.subarray(values),
  })),
];

const optional: fc.Arbitrary<Member> = fc
  .tuple(fc.oneof(...members), fc.constantFrom("optional", "nullish", "default"))
  .chain(([{ schema, sent }, how]) =>
    sent.map((initial) => ({
      schema:
        how === "default"
          ? schema.default(initial)
          : how === "nullish"
            ? schema.nullish()
            : schema.optional(),
      sent,
    })),
  );

const names = fc.string({ minLength: 1, maxLength: 6 }).filter((name) => name !== "__proto__");

const asked = fc
  .tuple(
    fc.dictionary(names, fc.oneof(...members), { maxKeys: 4 }),
    fc.dictionary(names, optional, { maxKeys: 4 }),
  )
  .chain(([needed, other]) => {
    const all = { ...other, ...needed };
    const shape = Object.fromEntries(
      Object.entries(all).map(([name, { schema }]) => [name, schema]),
    );
    const sent = Object.fromEntries(Object.entries(all).map((entry) => [entry[0], entry[1].sent]));
    const content = fc.record(sent, { requiredKeys: Object.keys(needed) });
    return fc.record({ schema: fc.constant(z.object(shape)), content });
  });

test("any flat zod object is a form that the specification permits, and what zod accepts is parsed back", async () => {
  await fc.assert(
    fc.asyncProperty(asked, async ({ schema, content }) => {
      const form = formOf("k", schema);
      const params = { mode: "form", message: "m", requestedSchema: form.requestedSchema };
      // The SDK's schema leaves out members that the specification does not have, so an equal value is a permitted one.
      const permitted = specTypeSchemas.ElicitRequestFormParams["~standard"].validate(params);
      expect(permitted).toEqual({ value: params });
      expect(await form.read(content)).toEqual(value(schema.parse(content)));
      // The form did not prevent the person from giving that answer.
      expect(await formOf("k", form.requestedSchema).read(content)).toMatchObject({ ok: true });
    }),
    { numRuns: 300 },
  );
});
