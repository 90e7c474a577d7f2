// A seam in the SDK: the author's schema for the SDK's lists, without its validation.
//
// The SDK always validates arguments with the schema that it lists, and hands on the parsed value. A round validates by
// itself and binds its token to the arguments as they were sent. So the SDK gets a schema with the same JSON Schema that
// accepts everything.

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { Schema } from "../forms/schema.ts";

type Untouched = StandardSchemaWithJSON<Record<string, unknown>, Record<string, unknown>>;

const known = new WeakMap<Schema, Untouched>();

/** Made once for each schema, because the SDK asks for the JSON Schema in every request and it is expensive to make. */
export function passThrough(schema: Schema): Untouched {
  const earlier = known.get(schema);
  if (earlier !== undefined) return earlier;
  const { jsonSchema } = schema["~standard"];
  const made: Untouched = {
    // The SDK looks here for what `completable()` has attached to a prompt's arguments.
    ...("shape" in schema ? { shape: schema.shape } : {}),
    "~standard": {
      version: 1,
      vendor: "parley",
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- passed through unchanged
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) },
    },
  };
  known.set(schema, made);
  return made;
}

type Convert = Schema["~standard"]["jsonSchema"]["input"];

function once(convert: Convert): Convert {
  const byTarget = new Map<string, Record<string, unknown>>();
  return (options) => {
    let json = byTarget.get(options.target);
    if (json === undefined) {
      json = convert(options);
      byTarget.set(options.target, json);
    }
    return json;
  };
}
