// An example value for an argument of a tool, which the tool's schema accepts.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import { isObject } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";

/** An example, or undefined if none of those that were tried fits the schema. */
export function exampleValue(schema: unknown, depth = 0): unknown {
  if (!isObject(schema)) return "text";
  const fits = checkOf(schema);
  for (const candidate of candidates(schema, depth)) if (fits(candidate)) return candidate;
  return undefined;
}

/** Whether a value fits. A schema that cannot be checked accepts everything. */
function checkOf(schema: Members): (value: unknown) => boolean {
  try {
    const { validate } = fromJsonSchema(schema)["~standard"];
    return (value) => {
      const result = validate(value);
      return !(result instanceof Promise) && result.issues === undefined;
    };
  } catch {
    return () => true;
  }
}

const deepest = 4;

function* candidates(schema: unknown, depth: number): Iterable<unknown> {
  if (!isObject(schema) || depth > deepest) return;
  const { default: initial, const: constant, enum: choices, examples, type } = schema;
  for (const one of [initial, constant]) if (one !== undefined) yield one;
  for (const list of [choices, examples]) if (Array.isArray(list)) yield* list.slice(0, 10);
  for (const list of [schema["oneOf"], schema["anyOf"], schema["allOf"]]) {
    if (!Array.isArray(list)) continue;
    for (const part of list.slice(0, 10)) yield* candidates(part, depth + 1);
  }
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  for (const one of types) yield* ofType(one, schema, depth);
}

function* ofType(type: unknown, schema: Members, depth: number): Iterable<unknown> {
  switch (type) {
    case "boolean":
      yield true;
      break;
    case "integer":
    case "number":
      yield* numbers(schema);
      break;
    case "array": {
      const item = exampleValue(schema["items"], depth + 1);
      const count = Math.min(Math.max(1, numberIn(schema, "minItems") ?? 1), 20);
      yield Array.from({ length: count }, () => item);
      yield [];
      break;
    }
    case "object":
      yield objectOf(schema, depth);
      break;
    default:
      yield* texts(schema);
  }
}

/** The smallest that fit, because a bound can be the largest number there is. */
function numbers(schema: Members): readonly number[] {
  const step = numberIn(schema, "multipleOf") ?? 1;
  const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].flatMap(
    (name) => numberIn(schema, name) ?? [],
  );
  const near = bounds.flatMap((bound) => [
    bound,
    Math.ceil(bound / step) * step,
    (Math.floor(bound / step) + 1) * step,
    (Math.ceil(bound / step) - 1) * step,
  ]);
  const [least = 0, most = 0] = bounds;
  const middle = (least + most) / 2;
  return [1, ...[...near, step].toSorted((a, b) => Math.abs(a) - Math.abs(b)), middle];
}

const formats: Readonly<Record<string, string>> = {
  email: "ada@example.com",
  uri: "https://example.com",
  url: "https://example.com",
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  uuid: "8f1c0f64-a2c9-4c1d-9a3b-7be04c55d7e2",
  ipv4: "127.0.0.1",
  hostname: "example.com",
};

function* texts(schema: Members): Iterable<string> {
  const format = schema["format"];
  if (typeof format === "string" && Object.hasOwn(formats, format)) yield formats[format] ?? "";
  const least = Math.min(numberIn(schema, "minLength") ?? 0, 200);
  const most = numberIn(schema, "maxLength") ?? Infinity;
  // Some of these fit common patterns.
  const words = ["text", "Text", "TEXT", "1", "123", "A1", "ABC-123", "a-b", "a@b.c", "a/b"];
  for (const word of [...words, ...Object.values(formats)]) {
    yield word.padEnd(least, word).slice(0, most);
  }
}

function objectOf({ properties, required }: Members, depth: number): Members {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.fromEntries(
    names.slice(0, 20).map((name) => {
      const field = isObject(properties) ? properties[String(name)] : undefined;
      return [String(name), exampleValue(field, depth + 1)];
    }),
  );
}

function numberIn(schema: Members, name: string): number | undefined {
  const value = schema[name];
  return typeof value === "number" ? value : undefined;
}
