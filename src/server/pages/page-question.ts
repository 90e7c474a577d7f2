// A question as its page shows it, and how a value is checked at the door, before it is delivered.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { expectation, fits } from "../../protocol/form.ts";
import type { FormJson } from "../../protocol/form.ts";
import { isObject } from "../../util/objects.ts";
import type { Json } from "../../util/json.ts";
import { valueFormOf } from "../forms/form.ts";
import { reasonOf } from "../forms/issues.ts";
import type { Schema } from "../forms/schema.ts";

/** What the page and the console show beside the question. At most 4 KiB. */
export type About = Readonly<Record<string, string | number | boolean>>;

/** Made of JSON, because the store keeps it. */
export interface PageQuestion {
  readonly message: string;
  /** The fields. Undefined if the value is not one that a form can show. */
  readonly form?: FormJson | undefined;
  /** The answer is the value of this field, and not an object. */
  readonly field?: string | undefined;
  /** The JSON Schema of the value, if it is not that of the form. */
  readonly schema?: Json | undefined;
  readonly about?: About | undefined;
  readonly isSecret?: boolean | undefined;
  /** Of an approval by a group. */
  readonly approval?: { readonly by: string; readonly of: number } | undefined;
  /** The provider to sign in at. Its own pages answer the question, and no form. */
  readonly provider?: string | undefined;
  /** When its time limit passes. */
  readonly dueAt?: number | undefined;
}

/** A question for a value that fits a schema, which `app.deliver` or a page brings. */
export function pageOfSchema(
  key: string,
  message: string,
  schema: Schema,
  about?: About,
): PageQuestion {
  const { form, field, schema: json } = valueFormOf(key, schema);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema is made of JSON
  return { message, form, field, schema: json as Json | undefined, about };
}

const mostAboutBytes = 4096;

/** Throws ParleyError "bad_option" for an `about` that is too large, or not flat. */
export function checkedAbout(key: string, about: About | undefined): About | undefined {
  if (about === undefined) return undefined;
  const isFlat =
    isObject(about) &&
    Object.values(about).every((value) => ["string", "number", "boolean"].includes(typeof value));
  if (!isFlat) {
    throw new ParleyError(
      "bad_option",
      `"about" of "${key}" takes texts, numbers and booleans, such as { Amount: "$500" }.`,
    );
  }
  const bytes = Buffer.byteLength(JSON.stringify(about));
  if (bytes <= mostAboutBytes) return about;
  throw new ParleyError(
    "bad_option",
    `"about" of "${key}" is ${bytes} bytes; at most ${mostAboutBytes} are kept.`,
  );
}

/** Why a value cannot be the answer, as far as the kept question can tell. */
export async function objectionAtTheDoor(
  { form, field, schema }: PageQuestion,
  value: Json,
): Promise<string | undefined> {
  if (schema !== undefined && isObject(schema)) {
    const result = await validated(schema, value);
    return result?.issues === undefined ? undefined : reasonOf(result.issues, field);
  }
  if (form === undefined) return undefined;
  const members = field === undefined ? value : { [field]: value };
  if (!isObject(members)) return "expected an object with the fields of the form";
  const wrong = Object.entries(form.properties).flatMap(([name, wanted]) => {
    const given = Object.hasOwn(members, name) ? members[name] : undefined;
    const isFine = given === undefined ? !form.required?.includes(name) : fits(wanted, given);
    return isFine ? [] : [`"${name}": expected ${expectation(wanted)}`];
  });
  return wrong.length === 0 ? undefined : wrong.slice(0, 3).join("; ");
}

/** Undefined for a schema that the SDK's validator does not understand. The handler's own schema checks the value later. */
async function validated(schema: object, value: Json) {
  try {
    return await fromJsonSchema(schema)["~standard"].validate(value);
  } catch {
    return undefined;
  }
}
