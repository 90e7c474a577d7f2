// The arguments of a request, checked with the author's schema and passed to the handler.

import type { StandardSchemaV1 } from "@modelcontextprotocol/server";
import type { Parsed } from "./definition.ts";
import { reasonOf } from "../forms/issues.ts";
import type { OutputOf, Schema } from "../forms/schema.ts";
import { errorText } from "../../util/error-text.ts";
import { passThrough } from "../sdk/pass-through.ts";

/** The parameters of a handler. As in the SDK, a handler without a schema gets `ctx` alone. */
export type HandlerArgs<In, Ctx> = In extends Schema ? [args: OutputOf<In>, ctx: Ctx] : [ctx: Ctx];

/**
 * Refuses at registration what would otherwise fail at each request: a value that is not a schema, from JavaScript, and
 * a schema that JSON Schema cannot describe. With such a schema, the SDK would refuse to list any tool.
 */
export function checkSchema(
  owner: string,
  member: string,
  schema: Schema | undefined,
  direction: "input" | "output",
): void {
  if (schema === undefined) return;
  if (isSchema(schema)) return checkJsonSchema(owner, member, schema, direction);
  throw new TypeError(
    `${owner}: its ${member} is not a Standard Schema with JSON Schema. With zod, write z.object({ … }). With valibot, use toStandardJsonSchema(schema). For plain JSON Schema, use fromJsonSchema(schema) from @modelcontextprotocol/server.`,
  );
}

function checkJsonSchema(
  owner: string,
  member: string,
  schema: Schema,
  direction: "input" | "output",
): void {
  try {
    // The SDK lists this very conversion, which is kept.
    passThrough(schema)["~standard"].jsonSchema[direction]({ target: "draft-2020-12" });
  } catch (error) {
    throw new TypeError(
      `${owner}: its ${member} cannot be written as JSON Schema: ${errorText(error)}. Use types that JSON has, for example z.iso.datetime() for a date.`,
      { cause: error },
    );
  }
}

function isSchema(value: unknown): boolean {
  const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!isObject || !("~standard" in value)) return false;
  const standard = value["~standard"];
  return typeof standard === "object" && standard !== null && "jsonSchema" in standard;
}

/** Validates the arguments. Without a schema there is nothing to validate. */
export function parseArguments(
  schema: Schema | undefined,
  args: unknown,
): Parsed | Promise<Parsed> {
  if (schema === undefined) return noArguments;
  const result = schema["~standard"].validate(args ?? {});
  return result instanceof Promise ? result.then(parsedAs) : parsedAs(result);
}

const noArguments: Parsed = { ok: true, input: undefined };

function parsedAs(result: StandardSchemaV1.Result<unknown>): Parsed {
  if (result.issues === undefined) return { ok: true, input: result.value };
  return { ok: false, reason: `Invalid arguments: ${reasonOf(result.issues)}` };
}

/** Calls a handler with its arguments and `ctx`, or with `ctx` alone. */
export function callWith(
  handler: unknown,
  schema: Schema | undefined,
): (input: unknown, ctx: unknown) => unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its parameters are HandlerArgs
  const call = handler as (...args: readonly unknown[]) => unknown;
  return schema === undefined ? (_input, ctx) => call(ctx) : (input, ctx) => call(input, ctx);
}
