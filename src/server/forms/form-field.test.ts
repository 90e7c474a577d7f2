import { fromJsonSchema } from "@modelcontextprotocol/server";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ParleyError } from "../../errors.ts";
import { formOf } from "./form.ts";
import type { Schema } from "./schema.ts";

const wire = (schema: Schema) => formOf("k", schema).requestedSchema;
const field = (schema: Schema) => wire(schema).properties.k;
const read = async (schema: Schema, content: unknown) => formOf("k", schema).read(content);
const value = (result: unknown) => ({ ok: true, value: result });

const validate = (given: unknown) => ({ value: given });

/** A schema with this JSON form. */
function withJson(json: Record<string, unknown>): Schema {
  const jsonSchema = { input: () => json, output: () => json };
  return { "~standard": { version: 1, vendor: "acme", validate, jsonSchema } };
}

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

describe("what a field shows", () => {
  test.each([
    ["lengths", z.string().min(2).max(5), { type: "string", minLength: 2, maxLength: 5 }],
    ["email", z.email(), { type: "string", format: "email" }],
    ["uri", z.url(), { type: "string", format: "uri" }],
    ["date", z.iso.date(), { type: "string", format: "date" }],
    ["date-time", z.iso.datetime(), { type: "string", format: "date-time" }],
    ["an unknown format is dropped", z.uuid(), { type: "string" }],
    ["a pattern is dropped", z.string().startsWith("a").regex(/b/), { type: "string" }],
    ["safe integer bounds are dropped", z.int(), { type: "integer" }],
    [
      "other integer bounds stay",
      z.int().min(-2).max(9),
      { type: "integer", minimum: -2, maximum: 9 },
    ],
    [
      "exclusive bounds of integers are rounded inwards",
      z.int().gt(0).lt(9),
      { type: "integer", minimum: 1, maximum: 8 },
    ],
    [
      "fractional exclusive bounds of integers are rounded inwards",
      z.int().gt(1.5).lt(8.5),
      { type: "integer", minimum: 2, maximum: 8 },
    ],
    [
      "fractional bounds of integers are rounded inwards",
      z.int().min(1.5).max(8.5),
      { type: "integer", minimum: 2, maximum: 8 },
    ],
    [
      "numbers keep their bounds",
      z.number().min(0.5).max(1),
      { type: "number", minimum: 0.5, maximum: 1 },
    ],
    ["exclusive bounds of numbers are dropped", z.number().gt(0).lt(1), { type: "number" }],
    ["multipleOf is dropped", z.number().multipleOf(2), { type: "number" }],
    ["boolean", z.boolean().default(false), { type: "boolean", default: false }],
    ["a boolean literal", z.literal(true), { type: "boolean" }],
    ["a string literal", z.literal("a"), { type: "string", enum: ["a"] }],
    [
      "title and description",
      z.string().meta({ title: "T", description: "D" }),
      { type: "string", title: "T", description: "D" },
    ],
    ["the input side of a transform", z.string().transform(Number), { type: "string" }],
    [
      "union of literals",
      z.union([z.literal("b"), z.literal("a")]),
      { type: "string", enum: ["b", "a"] },
    ],
    [
      "union of enums",
      z.union([z.enum(["a", "b"]), z.enum(["b", "c"])]),
      { type: "string", enum: ["a", "b", "c"] },
    ],
    [
      "titled literals",
      z.union([z.literal("a").meta({ title: "A" }), z.literal("b")]).meta({ title: "T" }),
      {
        type: "string",
        title: "T",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "b" },
        ],
      },
    ],
    [
      "union of one type",
      z.union([z.email(), z.literal("")]).describe("D"),
      { type: "string", description: "D" },
    ],
    [
      "description under null",
      z.enum(["a"]).describe("D").nullable(),
      { type: "string", enum: ["a"], description: "D" },
    ],
    [
      "union beside a type",
      withJson({ type: "string", anyOf: [{ format: "email" }, { format: "uri" }] }),
      { type: "string" },
    ],
    ["union of numbers", z.union([z.int(), z.number().min(3)]), { type: "number" }],
    [
      "intersection",
      z.string().min(1).and(z.string().max(5)),
      { type: "string", minLength: 1, maxLength: 5 },
    ],
    ["reference", z.enum(["a"]).meta({ id: "Reference" }), { type: "string", enum: ["a"] }],
    [
      "multi select",
      z
        .array(z.enum(["a", "b"]))
        .min(1)
        .max(2)
        .default(["a"]),
      {
        type: "array",
        items: { type: "string", enum: ["a", "b"] },
        minItems: 1,
        maxItems: 2,
        default: ["a"],
      },
    ],
    [
      "titled multi select",
      z.array(z.union([z.literal("a").meta({ title: "A" }), z.literal("b")])),
      {
        type: "array",
        items: {
          anyOf: [
            { const: "a", title: "A" },
            { const: "b", title: "b" },
          ],
        },
      },
    ],
    ["arktype sorts and gives no type", type("'b' | 'a'"), { type: "string", enum: ["a", "b"] }],
    [
      "arktype list",
      type("('a' | 'b')[] >= 1"),
      { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1 },
    ],
    ["arktype integer", type("number.integer > 0"), { type: "integer", minimum: 1 }],
    [
      "valibot picklist",
      toStandardJsonSchema(v.picklist(["b", "a"])),
      { type: "string", enum: ["b", "a"] },
    ],
    [
      "valibot action without JSON form",
      toStandardJsonSchema(v.pipe(v.string(), v.trim(), v.minLength(2))),
      { type: "string", minLength: 2 },
    ],
    ["valibot lazy", toStandardJsonSchema(v.lazy(() => v.string())), { type: "string" }],
    [
      "plain JSON Schema",
      fromJsonSchema({ type: "string", format: "date", examples: ["x"] }),
      { type: "string", format: "date" },
    ],
    [
      "legacy enumNames",
      withJson({ type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }),
      {
        type: "string",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "B" },
        ],
      },
    ],
    [
      "oneOf beside a type",
      fromJsonSchema({ type: "string", oneOf: [{ const: "a", title: "A" }] }),
      { type: "string", oneOf: [{ const: "a", title: "A" }] },
    ],
  ])("%s", (_, schema, expected) => {
    expect(field(schema)).toEqual(expected);
  });
});

describe("what may be null", () => {
  const Note = z.object({
    demanded: z.string().nullable(),
    optional: z.enum(["a"]).nullish(),
    defaulted: z.int().nullable().default(3),
    absent: z.string().nullable().default(null),
  });

  test("is shown without null and is not required", () => {
    expect(wire(Note)).toEqual({
      type: "object",
      properties: {
        demanded: { type: "string" },
        optional: { type: "string", enum: ["a"] },
        defaulted: { type: "integer", default: 3 },
        absent: { type: "string" },
      },
    });
    expect(wire(type({ n: "string | null" }))).toEqual({
      type: "object",
      properties: { n: { type: "string" } },
    });
    expect(wire(fromJsonSchema({ enum: ["a", null] }))).toEqual({
      type: "object",
      properties: { k: { type: "string", enum: ["a"] } },
    });
  });

  test("is null when left empty, but only where the schema demands the member", async () => {
    const empty = value({ demanded: null, defaulted: 3, absent: null });
    expect(await read(Note, {})).toEqual(empty);
    expect(await read(z.string().nullable(), {})).toEqual(value(null));
    expect(await read(z.string().nullable().default("x"), {})).toEqual(value("x"));
  });

  test("is accepted as null from a client that sends it", async () => {
    expect(await read(z.string().nullable(), { k: null })).toEqual(value(null));
  });
});

describe("choices that are not strings", () => {
  test.each([
    ["zod literals", z.literal([1, 2])],
    ["zod union", z.union([z.literal(1), z.literal(2)])],
    ["zod native enum", z.enum({ one: 1, two: 2 })],
    ["arktype", type("1 | 2")],
    ["valibot", toStandardJsonSchema(v.picklist([1, 2]))],
  ])("are shown as text and parsed back: %s", async (_, schema) => {
    expect(field(schema)).toEqual({ type: "string", enum: ["1", "2"] });
    expect(await read(schema, { k: "2" })).toEqual(value(2));
    expect(await read(schema, { k: 2 })).toEqual(value(2));
    expect(await read(schema, { k: "3" })).toMatchObject({ ok: false });
  });

  test("may be mixed, have a default and come in a list", async () => {
    const Level = z.literal(["auto", 1, false]).default(1);
    expect(field(Level)).toEqual({ type: "string", enum: ["auto", "1", "false"], default: "1" });
    expect(await read(Level, { k: "false" })).toEqual(value(false));
    expect(await read(Level, { k: "auto" })).toEqual(value("auto"));
    const Levels = z.array(z.literal([1, 2])).default([2]);
    expect(field(Levels)).toEqual({
      type: "array",
      items: { type: "string", enum: ["1", "2"] },
      default: ["2"],
    });
    expect(await read(Levels, { k: ["2", "1"] })).toEqual(value([2, 1]));
  });
});

test("the schema applies a default, even if the default breaks its own rules", async () => {
  const Name = z
    .string()
    .refine((name) => name !== "nobody")
    .default("nobody");
  expect(field(Name)).toEqual({ type: "string", default: "nobody" });
  expect(await read(Name, {})).toEqual(value("nobody"));
});

test("a default that the field itself would refuse is not shown, but still applied", async () => {
  const Name = z.object({ name: z.string().min(1).default("") });
  expect(wire(Name).properties.name).toEqual({ type: "string", minLength: 1 });
  expect(await read(Name, {})).toEqual(value({ name: "" }));
});

test("an intersection of objects is one form with all members", async () => {
  const Both = toStandardJsonSchema(
    v.intersect([
      v.object({ a: v.string() }),
      v.object({ b: v.optional(v.string()), c: v.number() }),
    ]),
  );
  expect(wire(Both)).toEqual({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "number" } },
    required: ["a", "c"],
  });
  expect(await read(Both, { a: "x", c: 1 })).toEqual(value({ a: "x", c: 1 }));
});

describe("a schema that a form cannot show is refused, with what to write instead", () => {
  const form = "A form has one level of strings, numbers, booleans and choices";
  const Cyclic: z.ZodType = z.object({ name: z.string(), next: z.lazy(() => Cyclic) });

  test("an object is refused in the words of the documentation", () => {
    const Shipping = z.object({ name: z.string(), address: z.object({ street: z.string() }) });
    expect(refused(Shipping, "shipping")).toBe(
      'Question "shipping" cannot be shown as a form, because "address" is an object. A form has one level of strings, numbers, booleans and choices. Make its members fields of their own, or ask a second question.',
    );
  });

  const wrong: readonly (readonly [
    is: string,
    advice: string,
    schemas: Record<string, Schema>[],
  ])[] = [
    [
      "is an object",
      "Make its members fields of their own, or ask a second question",
      [{ '"next"': Cyclic }, { '"a"': type({ a: { b: "string" } }) }],
    ],
    [
      "is a record",
      "Name its members and make them fields of their own, or ask for one at a time",
      [
        { '"r"': z.object({ r: z.record(z.string(), z.string()) }) },
        { it: z.record(z.string(), z.string()) },
        { it: type("Record<string, string>") },
      ],
    ],
    [
      "is a tuple",
      "Make its elements fields of their own",
      [{ '"t"': z.object({ t: z.tuple([z.string()]) }) }, { it: type(["string", "number"]) }],
    ],
    [
      "is a list of free values",
      "Make it a list of an enum to choose from, or ask for one line of text and split it",
      [
        { '"l"': z.object({ l: z.array(z.boolean()) }) },
        { it: z.array(z.string()) },
        { it: z.array(z.literal(true)) },
        { it: fromJsonSchema({ type: "array" }) },
        { it: fromJsonSchema({ type: "array", items: { type: "null" } }) },
      ],
    ],
    [
      "is a list of objects",
      "Ask for them one at a time, each under a key of its own",
      [{ it: z.array(z.object({ a: z.string() })) }],
    ],
    [
      "is a union of different types",
      "Ask for the type first, then for the value",
      [
        { '"u"': z.object({ u: z.union([z.string(), z.number()]) }) },
        { it: type("string | number") },
        { it: type({ a: "string" }).or({ b: "string" }) },
        { it: z.union([z.array(z.enum(["a"])), z.array(z.enum(["b"]))]) },
      ],
    ],
    [
      "is of any type, or of one that JSON does not have (a Date, a Set)",
      "Ask for a string and turn the answer into the value",
      [
        { '"when"': z.object({ when: z.date() }) },
        { '"when"': toStandardJsonSchema(v.object({ when: v.date() })) },
        { '"when"': type({ when: "Date" }) },
        { it: z.set(z.string()) },
        { it: z.any() },
        { it: withJson({ type: "colour" }) },
      ],
    ],
    [
      "is a choice of objects or lists",
      "Give each a name, ask for the name and look up what it stands for",
      [{ it: fromJsonSchema({ enum: [{ a: 1 }] }) }],
    ],
    [
      'has two choices that read "1"',
      "Make every choice a string of its own",
      [{ it: z.literal(["1", 1]) }],
    ],
    [
      "can have no value",
      "Leave it out",
      [
        { '"n"': z.object({ n: z.null() }) },
        { '"f"': fromJsonSchema({ type: "object", properties: { f: false } }) },
        { it: type("never") },
        { it: fromJsonSchema({ enum: [null] }) },
      ],
    ],
    [
      "is required, but is not one of the fields",
      "Add it to the properties, or do not require it",
      [{ '"a"': fromJsonSchema({ type: "object", properties: {}, required: ["a"] }) }],
    ],
    [
      "is a reference that leads nowhere or in a circle",
      "Write its schema out in its place",
      [
        { it: withJson({ $ref: "#/$defs/gone" }) },
        { it: withJson({ $ref: "other.json/$defs/a", $defs: { a: { type: "string" } } }) },
        { it: withJson({ $ref: "#" }) },
        { it: withJson({ anyOf: [{ type: "string" }, { $ref: "#" }] }) },
      ],
    ],
  ];

  test.each(wrong)("a schema part that %s is refused", (is, advice, schemas) => {
    for (const [subject, schema] of schemas.flatMap(Object.entries)) {
      expect(refused(schema)).toBe(
        `Question "q" cannot be shown as a form, because ${subject} ${is}. ${form}. ${advice}.`,
      );
    }
  });

  test("an unwrapped valibot schema is refused in the words of the documentation", () => {
    expect(refused(v.string(), "size")).toBe(
      'Question "size" cannot be shown as a form, because this valibot schema has no JSON Schema, which the form is made from. Wrap it: toStandardJsonSchema(schema) from @valibot/to-json-schema.',
    );
  });

  test.each([
    ["zod", "Use zod 4.2 or later."],
    ["acme", "Pass its JSON Schema through fromJsonSchema() from @modelcontextprotocol/server."],
  ])("a schema of %s without JSON Schema is refused", (vendor, remedy) => {
    const schema = { "~standard": { version: 1, vendor, validate } };
    expect(refused(schema, "size")).toBe(
      `Question "size" cannot be shown as a form, because this ${vendor} schema has no JSON Schema, which the form is made from. ${remedy}`,
    );
  });

  test("the error quotes a library that throws when it is asked for JSON Schema", () => {
    const thrown = new Error("Date cannot be represented in JSON Schema");
    const input = () => {
      throw thrown;
    };
    const jsonSchema = { input, output: input };
    const schema = { "~standard": { version: 1, vendor: "acme", validate, jsonSchema } } as const;
    expect(refused(schema, "when")).toBe(
      `Question "when" cannot be shown as a form, because acme gives no JSON Schema for it ("Date cannot be represented in JSON Schema"). ${form}. Ask for a string and turn the answer into the value.`,
    );
    expect(() => formOf("when", schema)).toThrow(expect.objectContaining({ cause: thrown }));
  });

  test.each([[null], ["text"], [{}], [{ type: "string" }], [{ type: "object" }], [[]]])(
    "%j is not a schema",
    (schema) => {
      expect(refused(schema)).toBe(
        'Question "q" cannot be shown as a form, because its schema is neither a Standard Schema nor a form, { type: "object", properties: … }. Pass a schema of zod, arktype or valibot, or pass JSON Schema through fromJsonSchema() from @modelcontextprotocol/server.',
      );
    },
  );
});
